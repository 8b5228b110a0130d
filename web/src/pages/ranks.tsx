// The ranks side by side, and all processes of the run.
import { rankPart } from "../colours";
import type { Content, Process, ProcessRow, RankRow } from "../data";
import { count, counted, duration, milliseconds, percent, processName, size } from "../format";
import { Swatch } from "../parts/bars";
import { Cut, Name, Place, visible } from "../parts/links";
import { Empty, Figure, Notes, Page, Panel } from "../parts/panel";
import { Table, type Column } from "../parts/table";
import { Traced, TracedFigures } from "./traced_ranks";

const PARTS: readonly [string, (row: RankRow) => number][] = [
  ["input", (row) => row.input_ms ?? 0],
  ["own work", (row) => Math.max(0, (row.own_ms ?? 0) - (row.input_ms ?? 0))],
  ["communication itself", (row) => row.transfer_ms ?? 0],
  ["waiting for others", (row) => row.waiting_ms ?? 0],
];

// What only a recorded process has.
const MEASURED: Column<ProcessRow>[] = [
  { key: "cpu", title: "CPU", value: (row: ProcessRow) => row.cpu_ns, cell: (row: ProcessRow) => duration(row.cpu_ns) },
  { key: "peak", title: "peak memory", value: (row: ProcessRow) => row.peak_bytes, cell: (row: ProcessRow) => size(row.peak_bytes) },
  { key: "read", title: "read", value: (row: ProcessRow) => row.read_bytes, cell: (row: ProcessRow) => size(row.read_bytes) },
  { key: "written", title: "written", value: (row: ProcessRow) => row.written_bytes, cell: (row: ProcessRow) => size(row.written_bytes) },
  { key: "threads", title: "threads", value: (row: ProcessRow) => row.threads },
  { key: "cost", title: "our cost", value: (row: ProcessRow) => row.overhead_share, cell: (row: ProcessRow) => percent(row.overhead_share) },
  { key: "status", title: "status", text: true, value: (row) => row.status },
  { key: "argv", title: "command", text: true, value: (row) => row.argv.join(" "), cell: (row) => <code class="faint"><Cut text={row.argv.join(" ")} most={24} /></code> },
];

// A row is one process: "worker", where tables of several together have "workers".
const one = (process: Process) => processName(process).replace(/^workers/, "worker");

export function Ranks({ content }: { content: Content }) {
  const answer = content.ranks;
  const rows = answer?.ranks ?? [];
  const most = Math.max(1e-9, ...rows.map((each) => each.step_ms ?? 0));
  const straggler = answer?.straggler;
  const bySteps = rows.some((each) => each.steps);
  return (
    <Page title={rows.length > 1 || answer?.traced ? "Ranks and processes" : "Processes"} note={rows.length > 1 ? counted(rows.length, "rank") : undefined}>
      {!rows.length && content.summary.processes < 2 && <Empty>{visible(answer?.reason ?? content.nothing.ranks)}</Empty>}
      {straggler && (
        <p class="lead">{visible(content.straggler ?? "")} {straggler.location && <Place at={straggler.location} />} {straggler.source && <code>{visible(straggler.source.trim())}</code>}</p>
      )}
      {(answer?.skew_ms != null || (answer?.traced && rows.length > 1)) && (
        <div class="figures">
          {answer.skew_ms !== null && <Figure label={bySteps ? "longest wait in a step" : "longest wait"} value={milliseconds(answer.skew_ms)} note={bySteps ? "mean of the steps" : "in all"} />}
          {answer.traced && <TracedFigures traced={answer.traced} />}
        </div>
      )}
      {rows.length > 0 && (
        <Panel title={bySteps ? "A step of each rank" : "Each rank"} note={bySteps ? "means of the measured steps" : "no steps are marked: all of its trace"}>
          <div class="legend">{PARTS.filter(([, of]) => rows.some((row) => of(row) > 0)).map(([name]) => <span key={name}><Swatch name={name} colours={rankPart} /> {name}</span>)}</div>
          <Table label="ranks" rows={rows} sort="rank" upwards rowKey={(row) => String(row.rank)}
            columns={[
              { key: "rank", title: "rank", value: (row) => row.rank },
              { key: "bar", title: "the step", text: true, wide: true, value: (row) => row.step_ms, cell: (row) => <span class="rank-bar">{PARTS.map(([name, of]) => <span key={name} title={`${name}: ${milliseconds(of(row))}`} style={{ width: `${(of(row) / most) * 100}%`, backgroundColor: rankPart(name) }} />)}</span> },
              { key: "step", title: "step", value: (row) => row.step_ms, cell: (row) => milliseconds(row.step_ms) },
              { key: "own", title: "own", value: (row) => row.own_ms, cell: (row) => milliseconds(row.own_ms) },
              { key: "communication", title: "communication", value: (row) => row.communication_ms, cell: (row) => milliseconds(row.communication_ms) },
              { key: "waiting", title: "of it waiting", value: (row) => row.waiting_ms, cell: (row) => milliseconds(row.waiting_ms) },
              { key: "input", title: "input", value: (row) => row.input_ms, cell: (row) => milliseconds(row.input_ms) },
              { key: "steps", title: "steps", value: (row) => row.steps, cell: (row) => count(row.steps) },
              ...(content.facts.is_trace ? [] : [{ key: "host", title: "host", text: true, value: (row: RankRow) => row.host, cell: (row: RankRow) => <Name text={row.host} /> },
              { key: "status", title: "status", text: true, value: (row: RankRow) => row.status }]),
            ]} />
        </Panel>
      )}
      {answer?.traced && <Traced traced={answer.traced} />}
      {content.processes && (content.processes.processes.length > 1 || !content.facts.is_trace) && (
        <Panel title="All processes">
          <Table label="processes" rows={content.processes.processes} sort="wall" rowKey={(row: ProcessRow) => String(row.process.pid)} find={(row) => `${one(row.process)} ${row.process.pid} ${row.argv.join(" ")} ${row.host}`}
            columns={[
              { key: "process", title: "process", text: true, value: (row) => one(row.process) },
              { key: "pid", title: "pid", value: (row) => row.process.pid },
              { key: "wall", title: "time", value: (row) => row.wall_ns, cell: (row) => duration(row.wall_ns) },
              ...(content.facts.is_trace ? [] : MEASURED),
            ]} />
        </Panel>
      )}
      <Notes notes={answer?.notes} />
    </Page>
  );
}
