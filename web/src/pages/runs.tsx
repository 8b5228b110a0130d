// The list of runs of a folder.
import type { RunEntry } from "../data";
import type { Listing } from "../server";
import { NOTHING, duration, milliseconds, times } from "../format";
import { Cut, Verdict, visible } from "../parts/links";
import { Page, Panel } from "../parts/panel";
import { Table } from "../parts/table";

const moment = (seconds: number) => new Date(seconds * 1000).toLocaleString("sv-SE");

// How much faster than the last run of the same script: a first look, without a test for noise.
function Gain({ ratio }: { ratio: number | null }) {
  if (ratio === null) return <span class="faint">{NOTHING}</span>;
  return <span class={ratio >= 1.03 ? "good" : ratio <= 0.97 ? "bad" : "faint"}>{times(ratio)}</span>;
}

function Status({ row }: { row: RunEntry }) {
  if (row.is_running) return <span class="tag live">recording</span>;
  return <span class={row.status === null || row.status === "ended" ? "faint" : "bad"}>{row.status ?? NOTHING}</span>;
}

export function RunList({ listing }: { listing: Listing }) {
  return (
    <Page title="Runs" note={<>in <code>{visible(listing.folder)}</code></>}>
      <Panel class="run-list">
        <Table label="runs" rows={listing.runs} sort="started" rowKey={(row: RunEntry) => row.id} link={(row) => ["overview", { run: row.id }]}
          find={(row) => `${row.name} ${row.command.join(" ")} ${row.figures?.verdict ?? ""} ${row.status ?? ""}`}
          columns={[
            { key: "name", title: "run", text: true, value: (row) => row.name, cell: (row) => <Cut text={row.name} most={36} /> },
            { key: "verdict", title: "verdict", text: true, wide: true, value: (row) => row.figures?.verdict ?? null, cell: (row) => <Verdict text={row.figures?.verdict ?? NOTHING} /> },
            { key: "step", title: "mean step", value: (row) => row.figures?.mean_step_ms ?? null, cell: (row) => milliseconds(row.figures?.mean_step_ms) },
            { key: "change", title: "change", hint: "throughput against the run of the same script before it; not tested for noise", value: (row) => row.change, cell: (row) => <Gain ratio={row.change} /> },
            { key: "wall", title: "duration", value: (row) => row.figures?.wall_ns ?? null, cell: (row) => duration(row.figures?.wall_ns) },
            { key: "status", title: "status", text: true, value: (row) => row.status, cell: (row) => <Status row={row} /> },
            { key: "started", title: "started", value: (row) => row.started_s ?? row.modified_s, cell: (row) => moment(row.started_s ?? row.modified_s) },
            { key: "command", title: "command", text: true, value: (row) => row.command.join(" "), cell: (row) => <code><Cut text={row.command.join(" ")} most={34} /></code> },
          ]} />
      </Panel>
    </Page>
  );
}
