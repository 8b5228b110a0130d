// The list of runs of a folder.
import type { RunEntry } from "../data";
import type { Listing } from "../server";
import { NOTHING, digits, duration, milliseconds } from "../format";
import { Name, visible } from "../parts/links";
import { Page, Panel } from "../parts/panel";
import { Table } from "../parts/table";

const moment = (seconds: number) => new Date(seconds * 1000).toLocaleString("sv-SE");

// How much faster than the last run of the same script: a first look, without a test for noise.
function Gain({ ratio }: { ratio: number | null }) {
  if (ratio === null) return <span class="faint">{NOTHING}</span>;
  return <span class={ratio >= 1.03 ? "good" : ratio <= 0.97 ? "bad" : "faint"}>{digits(ratio)}×</span>;
}

export function RunList({ listing, onOpen }: { listing: Listing; onOpen: (run: string) => void }) {
  return (
    <Page title="Runs" note={<>in <code>{visible(listing.folder)}</code></>}>
      <Panel>
        <Table label="runs" rows={listing.runs} sort="started" rowKey={(row: RunEntry) => row.id} onRow={(row) => onOpen(row.id)} find={(row) => `${row.name} ${row.command.join(" ")}`}
          columns={[
            { key: "name", title: "run", text: true, value: (row) => row.name, cell: (row) => <><Name text={row.name} />{row.is_running && <span class="tag live">recording</span>}</> },
            { key: "command", title: "command", text: true, wide: true, value: (row) => row.command.join(" "), cell: (row) => <code>{visible(row.command.join(" "))}</code> },
            { key: "step", title: "mean step", value: (row) => row.figures?.mean_step_ms ?? null, cell: (row) => milliseconds(row.figures?.mean_step_ms) },
            { key: "change", title: "against the one before", value: (row) => row.change, cell: (row) => <Gain ratio={row.change} /> },
            { key: "wall", title: "duration", value: (row) => row.figures?.wall_ns ?? null, cell: (row) => duration(row.figures?.wall_ns) },
            { key: "verdict", title: "verdict", text: true, wide: true, value: (row) => row.figures?.verdict ?? null, cell: (row) => <Name text={row.figures?.verdict} /> },
            { key: "started", title: "started", value: (row) => row.started_s ?? row.modified_s, cell: (row) => moment(row.started_s ?? row.modified_s) },
          ]} />
      </Panel>
    </Page>
  );
}
