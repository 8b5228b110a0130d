// Two runs side by side, if the report has a comparison.
import type { Content } from "../data";
import { digits, duration } from "../format";
import { Name, Place, visible } from "../parts/links";
import { Empty, Figure, Page, Panel } from "../parts/panel";
import { Table } from "../parts/table";

export function Compare({ content }: { content: Content }) {
  const comparison = content.compare;
  if (!comparison) {
    return (
      <Page title="Compare">
        <Empty>This report shows one run. A comparison says whether another run is faster, by how much, how certain that is, and which line or operator made the difference.</Empty>
      </Page>
    );
  }
  return (
    <Page title="Compare" note={visible(comparison.verdict)}>
      <div class="figures">
        <Figure label={comparison.basis} value={comparison.speedup === null ? "–" : `${digits(comparison.speedup)}×`} note={comparison.low !== null && comparison.high !== null ? `${digits(comparison.low)}× to ${digits(comparison.high)}×` : undefined} />
        <Figure label="certain" value={comparison.significant ? "yes" : "no"} />
      </div>
      <Panel title="What made the difference">
        <Table label="changes" rows={comparison.changes} sort="change" upwards rowKey={(row, index) => `${row.name}${index}`} find={(row) => `${row.what} ${row.name}`}
          columns={[
            { key: "what", title: "what", text: true, value: (row) => row.what },
            { key: "name", title: "name", text: true, wide: true, value: (row) => row.name, cell: (row) => <Name text={row.name} /> },
            { key: "before", title: "before", value: (row) => row.before_ns, cell: (row) => duration(row.before_ns) },
            { key: "after", title: "after", value: (row) => row.after_ns, cell: (row) => duration(row.after_ns) },
            { key: "change", title: "change", value: (row) => row.after_ns - row.before_ns, cell: (row) => duration(row.after_ns - row.before_ns) },
            { key: "line", title: "line", text: true, value: (row) => row.location?.file ?? null, cell: (row) => <Place at={row.location} /> },
          ]} />
      </Panel>
    </Page>
  );
}
