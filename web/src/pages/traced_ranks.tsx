// What the traces of several ranks say about their collectives: who comes last and why, and how fast they are.
import type { ArrivalRow, CollectiveRow, GroupRow, TracedRanks } from "../data";
import { count, counted, milliseconds, rate, size, times } from "../format";
import { Name } from "../parts/links";
import { Figure, Panel } from "../parts/panel";
import { Table } from "../parts/table";

const orNone = (text: string | number | null) => (text === null ? "–" : String(text));

export function TracedFigures({ traced }: { traced: TracedRanks }) {
  return (
    <>
      {traced.matched > 0 && <Figure label="collectives compared" value={count(traced.matched)} note="that two ranks or more have in common" />}
      {traced.imbalance !== null && <Figure label="load balance" value={times(traced.imbalance)} note="compute time of the busiest rank, relative to the mean" />}
    </>
  );
}

export function Traced({ traced }: { traced: TracedRanks }) {
  return (
    <>
      {traced.arrivals.length > 0 && <Arrivals rows={traced.arrivals} matched={traced.matched} />}
      {traced.collectives.length > 0 && <Collectives rows={traced.collectives} alone={!traced.arrivals.length} />}
      {traced.groups.length > 1 && <Groups rows={traced.groups} />}
    </>
  );
}

function Arrivals({ rows, matched }: { rows: ArrivalRow[]; matched: number }) {
  return (
    <Panel title="Who comes last" note={`to ${counted(matched, "collective")}; what each rank did before them, since the one before`}>
      <Table label="arrivals" rows={rows} sort="held" rowKey={(row) => String(row.rank)}
        columns={[
          { key: "rank", title: "rank", value: (row) => row.rank },
          { key: "last", title: "comes last", value: (row) => row.last, cell: (row) => count(row.last) },
          { key: "held", title: "holds up", hint: "how long after the next-to-last rank it came", value: (row) => row.held_ms, cell: (row) => milliseconds(row.held_ms) },
          { key: "waits", title: "waits", hint: "for the last rank", value: (row) => row.waiting_ms, cell: (row) => milliseconds(row.waiting_ms) },
          { key: "compute", title: "compute", value: (row) => row.compute_ms, cell: (row) => milliseconds(row.compute_ms) },
          { key: "input", title: "input", value: (row) => row.input_ms, cell: (row) => milliseconds(row.input_ms) },
          { key: "host", title: "host", hint: "neither: its device had nothing to do, and no batch was awaited", value: (row) => row.host_ms, cell: (row) => milliseconds(row.host_ms) },
          { key: "why", title: "late by", text: true, value: (row) => row.why, cell: (row) => orNone(row.why) },
        ]} />
    </Panel>
  );
}

function Collectives({ rows, alone }: { rows: CollectiveRow[]; alone: boolean }) {
  return (
    <Panel title="Collectives" note="by kind, message and process group; bandwidth as nccl-tests has it">
      <Table label="collectives" rows={rows} sort="time" rowKey={(row, index) => `${index} ${row.name}`} find={(row) => `${row.name} ${row.group ?? ""}`}
        columns={[
          { key: "name", title: "collective", text: true, wide: true, value: (row) => row.name, cell: (row) => <Name text={row.name} /> },
          { key: "group", title: "group", text: true, value: (row) => row.group, cell: (row) => <Name text={orNone(row.group)} /> },
          { key: "ranks", title: "ranks", value: (row) => row.group_size, cell: (row) => orNone(row.group_size) },
          { key: "message", title: "message", value: (row) => row.size_bytes, cell: (row) => size(row.size_bytes) },
          { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
          { key: "time", title: "time", value: (row) => row.total_ms, cell: (row) => milliseconds(row.total_ms) },
          ...(alone ? [] : [
            { key: "skew", title: "skew", hint: "of a call: from the first arrival to the last", value: (row: CollectiveRow) => row.skew_ms, cell: (row: CollectiveRow) => milliseconds(row.skew_ms) },
            { key: "transfer", title: "transfer", hint: "of a call: from the last arrival on", value: (row: CollectiveRow) => row.transfer_ms, cell: (row: CollectiveRow) => milliseconds(row.transfer_ms) },
            { key: "last", title: "last", value: (row: CollectiveRow) => row.last_rank, cell: (row: CollectiveRow) => (row.last_rank === null ? "–" : `rank ${row.last_rank}`) },
          ]),
          { key: "algorithm", title: "algorithm", hint: "bytes of the message by time", value: (row) => row.algorithm_bytes_per_s, cell: (row) => rate(row.algorithm_bytes_per_s) },
          { key: "bus", title: "bus", hint: "what a link carries for that", value: (row) => row.bus_bytes_per_s, cell: (row) => rate(row.bus_bytes_per_s) },
        ]} />
    </Panel>
  );
}

function Groups({ rows }: { rows: GroupRow[] }) {
  return (
    <Panel title="Process groups" note="all ranks together">
      <Table label="groups" rows={rows} sort="time" rowKey={(row) => `${row.group} ${row.ranks}`}
        columns={[
          { key: "group", title: "group", text: true, value: (row) => row.group, cell: (row) => <Name text={row.group} /> },
          { key: "ranks", title: "ranks", text: true, wide: true, value: (row) => row.ranks, cell: (row) => <Name text={row.ranks} /> },
          { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
          { key: "time", title: "time", value: (row) => row.total_ms, cell: (row) => milliseconds(row.total_ms) },
          { key: "bytes", title: "bytes", value: (row) => row.size_bytes, cell: (row) => size(row.size_bytes) },
        ]} />
    </Panel>
  );
}
