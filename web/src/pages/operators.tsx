// Operators as the framework counted them, what ran on the device, and the lines of each.
import { useState } from "preact/hooks";
import type { Content, DeviceRow, KernelRow, OpRow } from "../data";
import { count, digits, duration, percent, shortNames, size } from "../format";
import { go, useRoute } from "../route";
import { Bar } from "../parts/bars";
import { Link, Name, Place, visible } from "../parts/links";
import { Choice, Empty, Notes, Page, Panel } from "../parts/panel";
import { Table, type Column } from "../parts/table";

const shapes = (row: OpRow) => (row.input_shapes ? JSON.stringify(row.input_shapes) : "");

// 64×16×7×7, 8×4: inputs that are not tensors are left out.
function dimensions(row: OpRow): string {
  const tensors = (row.input_shapes ?? []).filter((each): each is unknown[] => Array.isArray(each) && each.length > 0);
  return tensors.map((each) => each.map((size) => (Array.isArray(size) ? `(${size.join("×")})` : String(size))).join("×")).join(", ");
}

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
    <Panel title="The device's time" note="in the operator windows; compute, communication and copies may overlap">
      <table class="plain">
        <thead><tr><th scope="col">device</th><th scope="col" class="number">busy</th><th scope="col" class="number">compute</th><th scope="col" class="number">communication</th><th scope="col" class="number">of it exposed</th><th scope="col" class="number">copies</th><th scope="col" class="number">idle</th><th scope="col" class="number">waits for the host</th></tr></thead>
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
        <thead><tr><th scope="col">window</th><th scope="col" class="number">begins</th><th scope="col" class="number">lasts</th><th scope="col" class="number">steps</th><th scope="col" class="number">operators</th><th scope="col" class="number">slow-down</th><th /></tr></thead>
        <tbody>
          {windows.map((each) => (
            <tr key={each.file}>
              <td><Name text={each.file} />{each.of_script && <span class="faint"> by the script's own profiler</span>}</td>
              <td class="number">{duration(each.start_ns)}</td><td class="number">{duration(each.duration_ns)}</td><td class="number">{count(each.steps)}</td>
              <td class="number">{count(each.operators)}</td><td class="number">{each.slowdown === null ? "–" : `${digits(each.slowdown)}×`}</td>
              <td>{each.start_ns !== null && <Link page="timeline" query={{ from: Math.max(0, each.start_ns + offset), to: each.start_ns + offset + each.duration_ns }}>on the timeline</Link>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

export function Operators({ content }: { content: Content }) {
  const { query } = useRoute();
  const [by, setBy] = useState<"name" | "shape">("name");
  const answer = by === "shape" && content.ops_by_shape ? content.ops_by_shape : content.ops;
  const kernels = content.kernels?.kernels ?? [];
  if (!answer?.ops.length && !kernels.length) {
    return (
      <Page title="Operators and kernels">
        <Empty>No operators were recorded: the script used no framework with operators, or had too few steps. <code>stepscope run --ops all</code> records them from the start.</Empty>
        <Notes notes={answer?.notes} />
      </Page>
    );
  }
  const rows = answer?.ops ?? [];
  const short = shortNames(rows.flatMap((each) => each.locations.map((place) => place.file)));
  const whole = answer?.self_cpu_ns || 1;
  const onDevice = rows.some((each) => each.self_device_ns);
  const withMemory = rows.some((each) => each.self_cpu_bytes);
  const withFlops = rows.some((each) => each.flops);
  const key = (row: OpRow) => row.name + shapes(row);
  const chosen = rows.find((each) => each.name === query.op && (query.shape === undefined || shapes(each) === query.shape));
  const columns: Column<OpRow>[] = [
    { key: "name", title: "operator", text: true, value: (row) => row.name, cell: (row) => <Name text={row.name} /> },
    { key: "line", title: "most from", text: true, value: (row) => (row.location ? `${row.location.file}:${String(row.location.line).padStart(6, "0")}` : null), cell: (row) => <Place at={row.location} short={short} /> },
    ...(by === "shape" ? [{ key: "shape", title: "input shapes", text: true, wide: true, value: shapes, cell: (row: OpRow) => <code class="shapes">{visible(dimensions(row)) || "–"}</code> }] : []),
    { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
    ...(by === "shape" ? [] : [{ key: "bar", title: "", value: (row: OpRow) => row.self_cpu_ns, cell: (row: OpRow) => <Bar share={row.self_cpu_ns / whole} /> }]),
    { key: "self", title: "own time", hint: "on the host, without the operators inside it", value: (row) => row.self_cpu_ns, cell: (row) => duration(row.self_cpu_ns) },
    { key: "share", title: "share", value: (row) => row.self_cpu_ns / whole, cell: (row) => percent(row.self_cpu_ns / whole) },
    { key: "total", title: "with inner", value: (row) => row.total_cpu_ns, cell: (row) => duration(row.total_cpu_ns) },
    { key: "mean", title: "per call", value: (row) => row.total_cpu_ns / row.calls, cell: (row) => duration(row.total_cpu_ns / row.calls) },
    ...(onDevice ? [{ key: "device", title: "device", hint: "time of the kernels that it launched itself", value: (row: OpRow) => row.self_device_ns, cell: (row: OpRow) => duration(row.self_device_ns) }] : []),
    ...(withMemory && by === "name" ? [{ key: "memory", title: "memory", hint: "allocated minus freed", value: (row: OpRow) => row.self_cpu_bytes, cell: (row: OpRow) => size(row.self_cpu_bytes) }] : []),
    ...(withFlops && by === "name" ? [{ key: "flops", title: "GFLOP", value: (row: OpRow) => row.flops, cell: (row: OpRow) => (row.flops ? digits(row.flops / 1e9) : "–") }] : []),
  ];
  return (
    <Page title="Operators and kernels" note={`${count(rows.length)} operators, ${duration(whole)} of their own on the host, in ${content.ops?.windows.length ?? 0} windows`}>
      <Panel title="Operators">
        <Table key={by} label="operators" rows={rows} columns={columns} sort="self" rowKey={key} chosen={chosen && key(chosen)}
          find={(row) => `${row.name} ${dimensions(row)} ${row.locations.map((each) => `${each.file}:${each.line}`).join(" ")}`}
          onRow={(row) => go("operators", row === chosen ? {} : { op: row.name, ...(by === "shape" ? { shape: shapes(row) } : {}) }, true)}
          unfolded={(row) => <Lines row={row} short={short} />}
          actions={<Choice label="Group by" value={by} options={[["name", "by name"], ["shape", "by shape"]]} onChange={setBy} />} />
      </Panel>
      <Device content={content} />
      <Panel title="On the device">
        {!kernels.length && <Empty>{content.nothing.device}</Empty>}
        {kernels.length > 0 && (
          <Table label="kernels" rows={kernels} sort="total" rowKey={(row: KernelRow) => `${row.name}|${row.kind}|${row.device}`} find={(row) => `${row.name} ${row.kind} ${row.operator ?? ""}`} filter={query.kernel ?? ""}
            columns={[
              { key: "name", title: "kernel", text: true, wide: true, value: (row) => row.name, cell: (row) => <Name text={row.name} /> },
              { key: "kind", title: "kind", text: true, value: (row) => row.kind },
              { key: "device", title: "device", value: (row) => row.device },
              { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
              { key: "bar", title: "", value: (row) => row.share, cell: (row) => <Bar share={row.share} /> },
              { key: "total", title: "time", value: (row) => row.total_ns, cell: (row) => duration(row.total_ns) },
              { key: "share", title: "share", value: (row) => row.share, cell: (row) => percent(row.share) },
              { key: "mean", title: "mean", value: (row) => row.mean_ns, cell: (row) => duration(row.mean_ns) },
              { key: "operator", title: "launched by", text: true, value: (row) => row.operator, cell: (row) => (row.operator ? <Link page="operators" query={{ op: row.operator }}><Name text={row.operator} /></Link> : "–") },
              { key: "line", title: "line", text: true, value: (row) => (row.location ? `${row.location.file}:${row.location.line}` : null), cell: (row) => <Place at={row.location} short={short} /> },
            ]} />
        )}
      </Panel>
      {(content.ops?.windows.length ?? 0) > 0 && <Windows content={content} />}
      <Notes notes={answer?.notes} />
    </Page>
  );
}
