// How each device is fed, what its time depends on, what it could do, and what it holds.
import type { Content, CriticalPath, DeviceDetails, DeviceMemory, DeviceRow, Roofline } from "../data";
import { count, counted, digits, dimensions, duration, large, percent, rate, size } from "../format";
import { phase, themed } from "../colours";
import { useAsked } from "../route";
import { Bar } from "../parts/bars";
import { Kernel, Name, visible } from "../parts/links";
import { Choice, Empty, Figure, Notes, Page, Panel } from "../parts/panel";
import { Plot } from "../parts/plot";
import { Table } from "../parts/table";

const title = (row: DeviceRow) => `${row.rank !== null ? `rank ${row.rank}, ` : ""}device ${row.device ?? 0}`;
// Of what a device does, the colours of the phases that mean the same.
const IDLE = "#9aa3ab";
const OF_PHASES: Record<string, string> = { compute: "compute", communication: "communication", "communication not overlapped": "communication", copies: "transfer" };
const COLOURS = ["--accent", "--warn", "--good", "--t-k"]; // of lines in a plot
// The middle of each part of the time.
const middles = (parts: number, span: number) => Array.from({ length: parts }, (_, at) => ((at + 0.5) / parts) * span);

function Time({ row }: { row: DeviceRow }) {
  const rows: [string, number][] = [
    ["busy", row.busy_ns], ["compute", row.compute_ns], ["communication", row.communication_ns], ["communication not overlapped", row.exposed_communication_ns],
    ["copies", row.memcpy_ns], ["idle", row.idle_ns], ["host too late", row.idle.host_wait_ns], ["between kernels", row.idle.kernel_wait_ns], ["other idle", row.idle.other_ns],
  ];
  return (
    <Panel title="Its time" note={`${duration(row.wall_ns)} from the first kernel to the last; compute, communication and copies may overlap`}>
      <table class="plain">
        <tbody>{rows.filter(([, ns]) => ns > 0).map(([what, ns]) => <tr key={what}><td>{what}</td><td class="wide"><Bar share={ns / (row.wall_ns || 1)} colour={what in OF_PHASES ? phase(OF_PHASES[what]) : what === "busy" ? undefined : IDLE} /></td><td class="number">{duration(ns)}</td><td class="number">{percent(ns / (row.wall_ns || 1))}</td></tr>)}</tbody>
      </table>
    </Panel>
  );
}

function Path({ path }: { path: CriticalPath }) {
  return (
    <Panel title="Critical path" note={<>{path.step === null ? "the whole trace" : <Name text={path.step} />}, {duration(path.step_ns)}: what its length depends on; in the last column, what it would save if that took no time</>}>
      <table class="plain">
        <thead><tr><th scope="col">kind</th><th scope="col" class="wide" /><th scope="col" class="number">time</th><th scope="col" class="number">share</th><th scope="col" class="number">without it</th></tr></thead>
        <tbody>{path.kinds.map((each) => <tr key={each.kind}><td>{each.kind}</td><td class="wide"><Bar share={each.share} /></td><td class="number">{duration(each.path_ns)}</td><td class="number">{percent(each.share)}</td><td class="number">{each.gain_ns > 0 ? `−${duration(each.gain_ns)}` : "–"}</td></tr>)}</tbody>
      </table>
      <Table label="the critical path" rows={path.rows} sort="time" rowKey={(each) => `${each.kind}|${each.name}`} find={(each) => `${each.kind} ${each.name}`}
        columns={[
          { key: "name", title: "what", text: true, wide: true, value: (each) => each.name, cell: (each) => (each.kind === "kernel" ? <Kernel text={each.name} /> : <Name text={each.name} />) },
          { key: "kind", title: "kind", text: true, value: (each) => each.kind },
          { key: "times", title: "times", value: (each) => each.times, cell: (each) => count(each.times) },
          { key: "time", title: "on the path", value: (each) => each.path_ns, cell: (each) => duration(each.path_ns) },
          { key: "share", title: "share", value: (each) => each.share, cell: (each) => percent(each.share) },
          { key: "gain", title: "without it", value: (each) => each.gain_ns, cell: (each) => (each.gain_ns > 0 ? `−${duration(each.gain_ns)}` : "–") },
        ]} />
      {path.others > 0 && <p class="faint small">{count(path.others)} more, each shorter than these</p>}
    </Panel>
  );
}

function Launches({ row, details }: { row: DeviceRow; details: DeviceDetails }) {
  const stats = details.launches;
  if (!stats) return null;
  const drawn = details.queues.filter((each) => each.over_time.length).slice(0, 4);
  return (
    <Panel title="Launches" note="queued: launched on a stream, but not running yet">
      <div class="figures">
        <Figure label="launches" value={count(stats.launches)} note={`${counted(stats.slow_calls, "call")} over 50 µs`} />
        <Figure label="a call takes" value={duration(stats.median_call_ns)} note="median" />
        <Figure label="until the start" value={duration(stats.median_delay_ns)} note={`median; 90 % within ${duration(stats.p90_delay_ns)}`} />
        <Figure label="shorter than their launch" value={percent(stats.short_kernels / (stats.launches || 1))} note={`${duration(stats.short_kernel_ns)} on the device, ${duration(stats.short_call_ns)} in calls`} />
      </div>
      {drawn.length > 0 && <Plot label="queue length over time" xs={middles(drawn[0].over_time.length, row.wall_ns)} height={170} x={duration} y={digits} yMin={0}
        lines={drawn.map((each, at) => ({ label: `stream ${each.stream}`, colour: themed(COLOURS[at]), values: each.over_time }))} />}
      <table class="plain">
        <thead><tr><th scope="col" class="number">stream</th><th scope="col" class="number">launches</th><th scope="col" class="number">queued, mean</th><th scope="col" class="number">at most</th><th scope="col" class="number">queue full</th><th scope="col" class="number">host blocked</th></tr></thead>
        <tbody>{details.queues.map((each) => <tr key={each.stream}><td class="number">{each.stream}</td><td class="number">{count(each.launches)}</td><td class="number">{digits(each.mean_length)}</td><td class="number">{count(each.max_length)}</td><td class="number">{each.full_ns ? duration(each.full_ns) : "–"}</td><td class="number">{each.blocked_ns ? duration(each.blocked_ns) : "–"}</td></tr>)}</tbody>
      </table>
    </Panel>
  );
}

function Waits({ details }: { details: DeviceDetails }) {
  if (!details.synchronisations.length) return null;
  return (
    <Panel title="Synchronisations" note="the host waits for the device, and the device then for the host">
      <table class="plain">
        <thead><tr><th scope="col">call</th><th scope="col">in</th><th scope="col" class="number">calls</th><th scope="col" class="number">host waits</th><th scope="col" class="number">device works meanwhile</th><th scope="col" class="number">device idle after</th></tr></thead>
        <tbody>{details.synchronisations.map((each) => <tr key={each.name}><td><Name text={each.name} /></td><td>{each.operator ? <Name text={each.operator} /> : "–"}</td><td class="number">{count(each.calls)}</td><td class="number">{duration(each.total_ns)}</td><td class="number">{duration(each.busy_ns)}</td><td class="number">{duration(each.idle_after_ns)}</td></tr>)}</tbody>
      </table>
    </Panel>
  );
}

function Copies({ row, details }: { row: DeviceRow; details: DeviceDetails }) {
  if (!details.copies.length) return null;
  const drawn = details.copies.filter((each) => each.over_time.length).slice(0, 4);
  const seconds = row.wall_ns / 1e9 / (drawn[0]?.over_time.length || 1);
  return (
    <Panel title="Copies">
      {drawn.length > 0 && <Plot label="bytes copied over time" xs={middles(drawn[0].over_time.length, row.wall_ns)} height={150} x={duration} y={rate} yMin={0} binary
        lines={drawn.map((each, at) => ({ label: visible(each.kind), colour: themed(COLOURS[at]), values: each.over_time.map((bytes) => bytes / seconds) }))} />}
      <table class="plain">
        <thead><tr><th scope="col">kind</th><th scope="col" class="number">calls</th><th scope="col" class="number">time</th><th scope="col" class="number">bytes</th><th scope="col" class="number">bandwidth</th></tr></thead>
        <tbody>{details.copies.map((each) => <tr key={each.kind}><td><Name text={each.kind} /></td><td class="number">{count(each.calls)}</td><td class="number">{duration(each.total_ns)}</td><td class="number">{size(each.size_bytes)}</td><td class="number">{rate(each.bytes_per_s)}</td></tr>)}</tbody>
      </table>
    </Panel>
  );
}

// The record has them as JSON.
function dimensionsOf(shapes: string): string {
  try { return dimensions(JSON.parse(shapes)) || "–"; } catch { return visible(shapes); }
}

function Roof({ roofline }: { roofline: Roofline }) {
  return (
    <Panel title="Roofline" note={roofline.peaks ? `published peaks of ${roofline.peaks.name}, dense` : undefined}>
      <div class="figures">
        {roofline.mfu !== null && <Figure label="MFU" value={percent(roofline.mfu)} note="of the peak, over the wall time" />}
        {roofline.of_busy !== null && <Figure label="while it works" value={percent(roofline.of_busy)} note="of the peak" />}
        <Figure label="counted operations" value={`${large(roofline.flops)}FLOP`} note={`${duration(roofline.device_ns)} on the device`} />
      </div>
      {roofline.note && <p class="faint">{visible(roofline.note)}</p>}
      <Table label="heavy operators" rows={roofline.rows} sort="time" rowKey={(each) => `${each.operator}|${each.input_shapes}|${each.precision}`} find={(each) => `${each.operator} ${each.input_shapes}`}
        columns={[
          { key: "operator", title: "operator", text: true, value: (each) => each.operator, cell: (each) => <Name text={each.operator} /> },
          { key: "shapes", title: "input shapes", text: true, wide: true, value: (each) => each.input_shapes, cell: (each) => <code class="shapes" title={visible(each.input_shapes)}>{dimensionsOf(each.input_shapes)}</code> },
          { key: "precision", title: "in", text: true, value: (each) => each.precision },
          { key: "calls", title: "calls", value: (each) => each.calls, cell: (each) => count(each.calls) },
          { key: "time", title: "device", value: (each) => each.device_ns, cell: (each) => duration(each.device_ns) },
          { key: "rate", title: "FLOP/s", value: (each) => each.flops_per_s, cell: (each) => large(each.flops_per_s) },
          { key: "bytes", title: "bytes", hint: "at least: each input and output once", value: (each) => each.bytes_per_s, cell: (each) => rate(each.bytes_per_s) },
          { key: "bound", title: "limit", text: true, value: (each) => each.bound ?? "–" },
          { key: "roof", title: "of the roof", value: (each) => each.share_of_roof ?? -1, cell: (each) => (each.share_of_roof === null ? "–" : percent(each.share_of_roof)) },
        ]} />
    </Panel>
  );
}

// Of the same kernel several times in a row: once, with how often.
function runsOf(kernels: string[]): [string, number][] {
  const runs: [string, number][] = [];
  for (const each of kernels) {
    const last = runs[runs.length - 1];
    if (last?.[0] === each) last[1]++; else runs.push([each, 1]);
  }
  return runs;
}

function Sequences({ details }: { details: DeviceDetails }) {
  if (!details.sequences.length) return null;
  return (
    <Panel title="Sequences that one kernel could replace" note="kernels that follow each other again and again on a stream">
      <table class="plain">
        <thead><tr><th scope="col">kernels</th><th scope="col" class="number">times</th><th scope="col" class="number">time</th><th scope="col" class="number">gaps</th><th scope="col" class="number">launches saved</th></tr></thead>
        <tbody>{details.sequences.map((each) => <tr key={each.kernels.join("|")}><td><ul class="sequence small">{runsOf(each.kernels).map(([kernel, times], at) => <li key={at}><Kernel text={kernel} />{times > 1 && <span class="faint"> {times}×</span>}</li>)}</ul></td><td class="number">{count(each.times)}</td><td class="number">{duration(each.total_ns)}</td><td class="number">{duration(each.gap_ns)}</td><td class="number">{count(each.launches_saved)}</td></tr>)}</tbody>
      </table>
    </Panel>
  );
}

function Held({ memory }: { memory: DeviceMemory }) {
  return (
    <Panel title="Memory" note={`${size(memory.peak_bytes)} at the peak, ${duration(memory.peak_at_ns)} after the first allocation; what was allocated before and never freed is not seen`}>
      <Plot label="device memory over time" xs={middles(memory.over_time.length, memory.span_ns)} height={170} x={duration} y={size} yMin={0} binary
        lines={[{ label: "allocated", colour: themed("--accent"), values: memory.over_time, fill: true }]} />
      {memory.alive.length > 0 && (
        <table class="plain">
          <thead><tr><th scope="col">allocated at the peak by</th><th scope="col" class="wide" /><th scope="col" class="number">bytes</th><th scope="col" class="number">allocations</th></tr></thead>
          <tbody>{memory.alive.map((each, at) => <tr key={at}><td>{each.is_earlier ? "before the trace began" : each.operator === null ? "outside operators" : <Name text={each.operator} />}</td><td class="wide"><Bar share={each.size_bytes / (memory.peak_bytes || 1)} /></td><td class="number">{size(each.size_bytes)}</td><td class="number">{count(each.allocations)}</td></tr>)}</tbody>
        </table>
      )}
    </Panel>
  );
}

function Ranges({ details }: { details: DeviceDetails }) {
  if (!details.annotations.length) return null;
  return (
    <Panel title="Named ranges" note="record_function, nvtx and what frameworks name; a range inside another is part of both">
      <Table label="named ranges" rows={details.annotations} sort="kernels" rowKey={(each) => each.name} find={(each) => each.name}
        columns={[
          { key: "name", title: "range", text: true, wide: true, value: (each) => each.name, cell: (each) => <Name text={each.name} /> },
          { key: "calls", title: "calls", value: (each) => each.calls, cell: (each) => count(each.calls) },
          { key: "host", title: "on the host", value: (each) => each.host_ns, cell: (each) => duration(each.host_ns) },
          { key: "device", title: "on the device", value: (each) => each.device_ns, cell: (each) => (each.device_ns ? duration(each.device_ns) : "–") },
          { key: "count", title: "kernels", value: (each) => each.kernels, cell: (each) => count(each.kernels) },
          { key: "kernels", title: "their time", value: (each) => each.kernel_ns, cell: (each) => duration(each.kernel_ns) },
        ]} />
    </Panel>
  );
}

export function Device({ content }: { content: Content }) {
  const rows = content.device?.ranks ?? [];
  const busiest = rows.reduce((most, row, at) => (row.busy_ns > rows[most].busy_ns ? at : most), 0);
  const [chosen, setChosen] = useAsked<string>("device", String(busiest));
  const row = rows[Number(chosen)] ?? rows[busiest];
  if (!row) return <Page title="The device"><Empty>{content.nothing.device}</Empty><Notes notes={content.device?.notes} /></Page>;
  const details = row.details;
  return (
    <Page title="The device" note={<>{title(row)}{details?.roofline?.device && <>, <Name text={details.roofline.device} /></>}{row.trace && <>, <Name text={row.trace} /></>}</>}
      actions={rows.length > 1 && <Choice label="Device" value={chosen} options={rows.slice(0, 16).map((each, at) => [String(at), title(each)] as const)} onChange={setChosen} />}>
      <Time row={row} />
      {details?.critical_path && <Path path={details.critical_path} />}
      {details && <Launches row={row} details={details} />}
      {details && <Waits details={details} />}
      {details && <Copies row={row} details={details} />}
      {details?.roofline && <Roof roofline={details.roofline} />}
      {details && <Sequences details={details} />}
      {details?.memory && <Held memory={details.memory} />}
      {details && <Ranges details={details} />}
      <Notes notes={content.device?.notes} />
    </Page>
  );
}
