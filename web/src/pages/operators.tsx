// Operators as the framework counted them, what ran on the device, and the lines of each.
import type { ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { Content, DeviceRow, KernelRow, OpPlace, OpRow } from "../data";
import { count, counted, dimensions, duration, large, percent, shortNames, size, times } from "../format";
import { useAsked, useRoute } from "../route";
import { Bar } from "../parts/bars";
import { Cut, HasSource, Kernel, Link, Name, Place, visible } from "../parts/links";
import { Choice, Empty, Notes, Page, Panel } from "../parts/panel";
import { Table, type Column } from "../parts/table";

const shapes = (row: OpRow) => (row.input_shapes ? JSON.stringify(row.input_shapes) : "");

function Lines({ row, short }: { row: OpRow; short: Map<string, string> }) {
  const whole = row.self_cpu_ns || 1;
  if (!row.locations.length) return <p class="faint">It was not called from a line of your code.</p>;
  return (
    <table class="plain">
      <thead><tr><th scope="col">called from</th><th scope="col" class="wide" /><th scope="col" class="number">calls</th><th scope="col" class="number">own time</th><th scope="col" class="number">share</th></tr></thead>
      <tbody>
        {row.locations.map((each) => (
          <tr key={`${each.file}:${each.line}`}><td><Place at={{ ...each, function: null }} short={short} /></td><td class="wide"><Bar share={each.self_cpu_ns / whole} /></td><td class="number">{count(each.calls)}</td><td class="number">{duration(each.self_cpu_ns)}</td><td class="number">{percent(each.self_cpu_ns / whole)}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

function Device({ content }: { content: Content }) {
  const rows = content.device?.ranks ?? [];
  if (!rows.length) return null;
  const of = (ns: number, row: DeviceRow) => <>{duration(ns)} <span class="faint">{percent(ns / (row.wall_ns || 1))}</span></>;
  return (
    <Panel title="The device's time" note={`${content.facts.is_trace ? "" : "in the operator windows; "}shares of the time from a device's first kernel to its last; compute, communication and copies may overlap`}>
      <table class="plain">
        <thead><tr><th scope="col">device</th><th scope="col" class="number">busy</th><th scope="col" class="number">compute</th><th scope="col" class="number">communication</th><th scope="col" class="number">not overlapped</th><th scope="col" class="number">copies</th><th scope="col" class="number">idle</th><th scope="col" class="number">waits for the host</th></tr></thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}><td>{row.rank !== null ? `rank ${row.rank}, ` : ""}{row.device ?? 0}</td><td class="number">{of(row.busy_ns, row)}</td><td class="number">{of(row.compute_ns, row)}</td><td class="number">{of(row.communication_ns, row)}</td><td class="number">{of(row.exposed_communication_ns, row)}</td><td class="number">{of(row.memcpy_ns, row)}</td><td class="number">{of(row.idle_ns, row)}</td><td class="number">{of(row.idle.host_wait_ns, row)}</td></tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Windows({ content }: { content: Content }) {
  const windows = content.ops?.windows ?? [];
  const offset = content.timeline?.main_ns ?? 0;
  return (
    <Panel title="Where they were recorded" note="operators are recorded in windows, so that the rest of the run is not slowed down">
      <table class="plain">
        <thead><tr><th scope="col">window</th><th scope="col" class="number">begins</th><th scope="col" class="number">lasts</th><th scope="col" class="number">steps</th><th scope="col" class="number">operators</th><th scope="col" class="number">its steps take</th><th /></tr></thead>
        <tbody>
          {windows.map((each) => (
            <tr key={each.file}>
              <td><Name text={each.file} />{each.of_script && <span class="faint"> by the script's own profiler</span>}</td>
              <td class="number">{duration(each.start_ns === null ? null : each.start_ns + offset)}</td><td class="number">{duration(each.duration_ns)}</td><td class="number">{count(each.steps)}</td>
              <td class="number">{count(each.operators)}</td><td class="number">{each.slowdown === null ? "–" : `${times(each.slowdown)} as long`}</td>
              <td>{each.start_ns !== null && <Link page="timeline" query={{ from: Math.max(0, each.start_ns + offset), to: each.start_ns + offset + each.duration_ns }}>on the timeline</Link>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

type By = "name" | "shape" | "module" | "line";
const OF_MODULE = " › ";

// Each line with the operators that it called.
function ByLine({ rows, whole, actions }: { rows: OpRow[]; whole: number; actions: ComponentChildren }) {
  const hasSource = useContext(HasSource);
  const lines = useMemo(() => {
    const found = new Map<string, { at: OpPlace; ns: number; calls: number; ops: [string, number][] }>();
    for (const row of rows) {
      for (const at of row.locations) {
        const key = `${at.file}:${at.line}`;
        const line = found.get(key) ?? { at, ns: 0, calls: 0, ops: [] };
        line.ns += at.self_cpu_ns;
        line.calls += at.calls;
        line.ops.push([row.name, at.self_cpu_ns]);
        found.set(key, line);
      }
    }
    return [...found.values()].map((each) => ({ ...each, ops: each.ops.sort((a, b) => b[1] - a[1]) }));
  }, [rows]);
  const short = shortNames(lines.map((each) => each.at.file));
  return (
    <Table label="lines" rows={lines} sort="self" rowKey={(row) => `${row.at.file}:${row.at.line}`} find={(row) => `${row.at.file}:${row.at.line} ${row.ops.map(([name]) => name).join(" ")}`}
      link={hasSource ? (row) => ["source", { file: row.at.file, line: row.at.line }] : undefined} actions={actions}
      columns={[
        { key: "line", title: "line", text: true, value: (row) => `${row.at.file}:${String(row.at.line).padStart(6, "0")}`, cell: (row) => <span title={visible(`${row.at.file}:${row.at.line}`)}>{visible(short.get(row.at.file) ?? row.at.file)}:{row.at.line}</span> },
        { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
        { key: "bar", title: "", value: (row) => row.ns, cell: (row) => <Bar share={row.ns / whole} /> },
        { key: "self", title: "time", hint: "own time of its operators on the host", value: (row) => row.ns, cell: (row) => duration(row.ns) },
        { key: "share", title: "share", value: (row) => row.ns / whole, cell: (row) => percent(row.ns / whole) },
        { key: "ops", title: "mostly", text: true, wide: true, value: (row) => row.ops[0]?.[0] ?? null, cell: (row) => <span class="faint">{row.ops.slice(0, 3).map(([name]) => visible(name)).join(", ")}</span> },
      ]} />
  );
}

// Its place in the model: what it is in comes first, in grey.
function Module({ path }: { path: string }) {
  const parts = path.split(OF_MODULE), inside = parts.slice(-2, -1).join(OF_MODULE);
  return <span title={visible(path)}>{inside && <span class="faint small deep"><Cut text={(parts.length > 2 ? "… › " : "") + inside} most={40} /></span>}<Cut text={parts[parts.length - 1]} most={40} /></span>;
}

// On a trace with a device, its own time comes first: that is what such a step consists of.
function columnsOf(rows: OpRow[], by: By, whole: number, deviceNs: number, short: Map<string, string>): Column<OpRow>[] {
  const withMemory = !deviceNs && rows.some((each) => each.self_cpu_bytes), withFlops = rows.some((each) => each.flops);
  const device: Column<OpRow>[] = deviceNs ? [
    { key: "device", title: "on device", hint: "time of the kernels that it launched itself", value: (row) => row.self_device_ns, cell: (row) => duration(row.self_device_ns) },
    { key: "device share", title: "share", value: (row) => row.self_device_ns, cell: (row) => percent((row.self_device_ns ?? 0) / deviceNs) },
  ] : [];
  const host: Column<OpRow>[] = [
    { key: "self", title: deviceNs ? "on host" : "own time", hint: "on the host, without the operators inside it", value: (row) => row.self_cpu_ns, cell: (row) => duration(row.self_cpu_ns) },
    ...(deviceNs ? [] : [{ key: "share", title: "share", value: (row: OpRow) => row.self_cpu_ns / whole, cell: (row: OpRow) => percent(row.self_cpu_ns / whole) }]),
  ];
  const bar = (row: OpRow) => (deviceNs ? (row.self_device_ns ?? 0) / deviceNs : row.self_cpu_ns / whole);
  return [
    { key: "name", title: by === "module" ? "module" : "operator", text: true, value: (row) => row.name, cell: (row) => (by === "module" ? <Module path={row.name} /> : <Cut text={row.name} most={by === "shape" ? 28 : deviceNs || withMemory ? 30 : 40} />) },
    ...(by === "shape" ? [{ key: "shape", title: "input shapes", text: true, wide: true, value: shapes, cell: (row: OpRow) => <code class="shapes"><Cut text={dimensions(row.input_shapes) || "–"} most={34} /></code> }] : []),
    { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
    ...(by === "shape" ? [] : [{ key: "bar", title: "", value: bar, cell: (row: OpRow) => <Bar share={bar(row)} /> }]),
    ...device, ...host,
    { key: "total", title: "total", hint: by === "module" ? "on the host, with the modules inside it" : "on the host, with the operators inside it", value: (row) => row.total_cpu_ns, cell: (row) => duration(row.total_cpu_ns) },
    ...(by !== "name" ? [] : [{ key: "mean", title: "per call", value: (row: OpRow) => row.total_cpu_ns / row.calls, cell: (row: OpRow) => duration(row.total_cpu_ns / row.calls) }]),
    ...(rows.some((each) => each.location) ? [{ key: "line", title: "main call site", text: true, value: (row: OpRow) => (row.location ? `${row.location.file}:${String(row.location.line).padStart(6, "0")}` : null), cell: (row: OpRow) => <Place at={row.location} short={short} /> }] : []),
    ...(withMemory && by === "name" ? [{ key: "memory", title: "memory", hint: "allocated minus freed", value: (row: OpRow) => row.self_cpu_bytes, cell: (row: OpRow) => size(row.self_cpu_bytes) }] : []),
    ...(withFlops && by === "name" ? [{ key: "flops", title: "FLOP", hint: "floating-point operations, of all calls", value: (row: OpRow) => row.flops, cell: (row: OpRow) => (row.flops ? large(row.flops) : "–") }] : []),
  ];
}

function OperatorTable({ content }: { content: Content }) {
  const { query } = useRoute();
  const [by, setBy] = useAsked<By>("by", "name");
  const modules = content.ops_by_module?.ops.length ? content.ops_by_module : null;
  const answer = by === "shape" && content.ops_by_shape ? content.ops_by_shape : by === "module" && modules ? modules : content.ops;
  const rows = answer?.ops ?? [];
  if (!rows.length) return null;
  const short = shortNames(rows.flatMap((each) => each.locations.map((place) => place.file)));
  const whole = answer?.self_cpu_ns || 1, deviceNs = answer?.self_device_ns ?? 0;
  const key = (row: OpRow) => row.name + shapes(row);
  const chosen = rows.find((each) => each.name === query.op && (query.shape === undefined || shapes(each) === query.shape));
  const all = content.ops?.ops ?? [];
  const groups = ([["name", "by name", true], ["shape", "by shape", content.ops_by_shape?.ops.some((each) => dimensions(each.input_shapes))],
    ["module", "by module", modules], ["line", "by line", all.some((each) => each.locations.length)]] as const)
    .filter(([, , isThere]) => isThere).map(([value, text]) => [value, text] as const);
  const choice = groups.length > 1 && <Choice label="Group by" value={by} options={groups} onChange={setBy} />;
  return (
    <Panel title="Operators">
      {by === "line" ? <ByLine rows={rows} whole={whole} actions={choice} /> : (
        <Table key={by} label="operators" rows={rows} columns={columnsOf(rows, by, whole, deviceNs, short)} sort={deviceNs ? "device" : "self"} rowKey={key} chosen={chosen && key(chosen)}
          find={(row) => `${row.name} ${dimensions(row.input_shapes)} ${row.locations.map((each) => `${each.file}:${each.line}`).join(" ")}`}
          link={(row) => ["operators", { ...query, op: row === chosen ? null : row.name, shape: by === "shape" && row !== chosen ? shapes(row) : null }]}
          unfolded={(row) => <Lines row={row} short={short} />} actions={choice} />
      )}
    </Panel>
  );
}

function Kernels({ content }: { content: Content }) {
  const kernels = content.kernels?.kernels ?? [];
  const short = shortNames(kernels.flatMap((each) => (each.location ? [each.location.file] : [])));
  const withDevices = new Set(kernels.map((each) => each.device)).size > 1;
  if (!kernels.length) return null;
  return (
    <Panel title="On the device">
      <Table label="kernels" rows={kernels} sort="total" rowKey={(row: KernelRow) => `${row.name}|${row.kind}|${row.device}`} find={(row) => `${row.name} ${row.kind} ${row.operator ?? ""}`}
        columns={[
          { key: "name", title: "kernel", text: true, value: (row) => row.name, wide: true, cell: (row) => <Kernel text={row.name} /> },
          ...(withDevices ? [{ key: "device", title: "device", value: (row: KernelRow) => row.device }] : []),
          { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
          { key: "bar", title: "", value: (row) => row.share, cell: (row) => <Bar share={row.share} /> },
          { key: "total", title: "time", value: (row) => row.total_ns, cell: (row) => duration(row.total_ns) },
          { key: "share", title: "share", value: (row) => row.share, cell: (row) => percent(row.share) },
          { key: "mean", title: "mean", value: (row) => row.mean_ns, cell: (row) => duration(row.mean_ns) },
          { key: "operator", title: "launched by", text: true, value: (row) => row.operator, cell: (row) => (row.operator ? <Link page="operators" query={{ op: row.operator }}><Cut text={row.operator} most={28} /></Link> : "–") },
          ...(kernels.some((each) => each.location) ? [{ key: "line", title: "main call site", text: true, value: (row: KernelRow) => (row.location ? `${row.location.file}:${row.location.line}` : null), cell: (row: KernelRow) => <Place at={row.location} short={short} /> }] : []),
        ]} />
    </Panel>
  );
}

export function Operators({ content }: { content: Content }) {
  const rows = content.ops?.ops.length ?? 0;
  const isOnDevice = !!content.kernels?.kernels.length;
  if (!rows && !isOnDevice) {
    return (
      <Page title="Operators and kernels">
        <Empty>No operators were recorded: the script used no framework with operators, or had too few steps. <code>stepscope run --ops all</code> records them from the start.</Empty>
        <Notes notes={content.ops?.notes} />
      </Page>
    );
  }
  const onHost = content.ops?.self_cpu_ns ?? 0;
  return (
    <Page title="Operators and kernels" note={`${counted(rows, "operator")}, ${duration(onHost)} on the host${content.facts.is_trace ? "" : `, in ${counted(content.ops?.windows.length ?? 0, "window")}`}`}>
      {isOnDevice && <><Device content={content} /><Kernels content={content} /></>}
      <OperatorTable content={content} />
      {!content.facts.is_trace && (content.ops?.windows.length ?? 0) > 0 && <Windows content={content} />}
      <Notes notes={content.ops?.notes} />
    </Page>
  );
}
