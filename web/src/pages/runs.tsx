// The list of runs of a folder.
import type { RunEntry } from "../data";
import type { Listing } from "../server";
import { Name, visible } from "../parts/links";
import { Page, Panel } from "../parts/panel";
import { Table } from "../parts/table";

const moment = (seconds: number) => new Date(seconds * 1000).toLocaleString("sv-SE");

export function RunList({ listing, onOpen }: { listing: Listing; onOpen: (run: string) => void }) {
  return (
    <Page title="Runs" note={<>in <code>{visible(listing.folder)}</code></>}>
      <Panel>
        <Table label="runs" rows={listing.runs} sort="started" rowKey={(row: RunEntry) => row.id} onRow={(row) => onOpen(row.id)} find={(row) => `${row.name} ${row.command.join(" ")}`}
          columns={[
            { key: "name", title: "run", text: true, value: (row) => row.name, cell: (row) => <><Name text={row.name} />{row.is_running && <span class="tag live">recording</span>}</> },
            { key: "command", title: "command", text: true, wide: true, value: (row) => row.command.join(" "), cell: (row) => <code>{visible(row.command.join(" "))}</code> },
            { key: "started", title: "started", value: (row) => row.started_s ?? row.modified_s, cell: (row) => moment(row.started_s ?? row.modified_s) },
          ]} />
      </Panel>
    </Page>
  );
}
