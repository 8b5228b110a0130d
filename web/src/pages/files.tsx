// Which files were opened, from where, how often, and what that cost; and the named regions.
import type { Content, FileRow, NamedRow } from "../data";
import { baseName, count, duration, percent, processName, shortNames, size } from "../format";
import { Bar } from "../parts/bars";
import { Cut, Name, Place, visible } from "../parts/links";
import { Empty, Figure, Notes, Page, Panel } from "../parts/panel";
import { Table } from "../parts/table";

export function Files({ content }: { content: Content }) {
  const answer = content.files;
  const rows = answer?.files ?? [];
  const steps = content.summary.steps.steps;
  const short = shortNames(rows.flatMap((each) => (each.location ? [each.location.file] : [])));
  return (
    <Page title="Files" note="A file's time runs until the function that opened it returns or opens another file.">
      <div class="figures">
        <Figure label="files" value={count(rows.length)} />
        <Figure label="read" value={size(answer?.read_bytes)} note="by all processes" />
        <Figure label="written" value={size(answer?.written_bytes)} note="by all processes" />
      </div>
      {!rows.length && <Empty>{content.nothing.files} Files that a C library opens on its own are not seen.</Empty>}
      {rows.length > 0 && (
        <Panel title="Files">
          <Table label="files" rows={rows} sort="time" rowKey={(row: FileRow, index) => `${row.path}|${index}`} find={(row) => `${row.path} ${row.location?.file ?? ""}`}
            columns={[
              { key: "path", title: "file", text: true, wide: true, value: (row) => row.path, cell: (row) => <span title={visible(row.path)}><Name text={baseName(row.path)} /> <Name class="faint small" text={row.path.slice(0, row.path.length - baseName(row.path).length)} /></span> },
              { key: "how", title: "for", text: true, value: (row) => (row.writing ? "writing" : "reading") },
              { key: "opens", title: "opened", value: (row) => row.opens, cell: (row) => `${count(row.opens)}×` },
              ...(steps ? [{ key: "steps", title: "in steps", value: (row: FileRow) => row.steps, cell: (row: FileRow) => (row.steps === null ? "–" : `${count(row.steps)} of ${count(steps)}`) }] : []),
              { key: "bar", title: "", value: (row) => row.total_ns, cell: (row) => <Bar share={row.share} /> },
              { key: "time", title: "time", value: (row) => row.total_ns, cell: (row) => <>{row.estimated && <abbr title="estimated: the mean time of the line">≈</abbr>}{row.importing ? <span title="it is part of the imports">–</span> : duration(row.total_ns)}</> },
              { key: "share", title: "of process", value: (row) => row.share, cell: (row) => (row.importing ? "–" : percent(row.share)) },
              { key: "line", title: "opened by", text: true, value: (row) => (row.location ? `${row.location.file}:${row.location.line}` : null), cell: (row) => <Place at={row.location} short={short} /> },
              { key: "process", title: "process", text: true, value: (row) => processName(row.process) },
            ]} />
        </Panel>
      )}
      <Named title="Regions" note="named with stepscope.region, record_function or nvtx" rows={content.regions?.regions ?? []} />
      <Named title="Actions" note="of the framework's own profiler" rows={content.actions?.actions ?? []} short={shortAction} />
      <Notes notes={answer?.notes} />
    </Page>
  );
}

// Of Lightning's names, as in the terminal: without the kind of the hook's owner, and the options that a callback was made with.
const shortAction = (name: string) => name.replace(/^\[\w+\](?=\w)/, "").replace(/\{.*\}/, "");

function Named({ title, note, rows, short }: { title: string; note: string; rows: NamedRow[]; short?: (name: string) => string }) {
  if (!rows.length) return null;
  return (
    <Panel title={title} note={note}>
      <Table label={title.toLowerCase()} rows={rows.map((row, order) => ({ ...row, order }))} sort="order" upwards rowKey={(row) => String(row.order)} find={(row) => row.name}
        columns={[
          { key: "order", title: "name", text: true, wide: true, value: (row) => row.order, cell: (row) => <span class="deep" style={{ paddingLeft: `${row.depth * 18}px` }}><Cut text={row.name} short={short?.(row.name)} most={Math.max(24, 52 - 3 * row.depth)} /></span> },
          { key: "calls", title: "calls", value: (row) => row.calls, cell: (row) => count(row.calls) },
          { key: "total", title: "time", value: (row) => row.total_ns, cell: (row) => duration(row.total_ns) },
          { key: "self", title: "own", value: (row) => row.self_ns, cell: (row) => duration(row.self_ns) },
          { key: "mean", title: "mean", value: (row) => row.mean_ns, cell: (row) => duration(row.mean_ns) },
          { key: "bar", title: "", value: (row) => row.share, cell: (row) => <Bar share={row.share} /> },
          { key: "share", title: "share", value: (row) => row.share, cell: (row) => percent(row.share) },
        ]} />
    </Panel>
  );
}
