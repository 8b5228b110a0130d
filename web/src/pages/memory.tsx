// Resident memory of every process over time, and the lines that keep what they allocate.
import { useMemo } from "preact/hooks";
import { series } from "../colours";
import type { Content, LineMemory, ProcessMemory } from "../data";
import { duration, processName, shortNames, size } from "../format";
import { Name, Place, visible } from "../parts/links";
import { Empty, Figure, Notes, Page, Panel } from "../parts/panel";
import { Plot } from "../parts/plot";
import { Table } from "../parts/table";

// "main 4711"; "workers 1", "workers 2" where the number of the process is not known.
function labelled(rows: ProcessMemory[]): string[] {
  const names = rows.map(({ process }) => `${processName(process)}${process.pid ? ` ${process.pid}` : ""}`);
  const number = (index: number) => names.slice(0, index + 1).filter((each) => each === names[index]).length;
  return names.map((name, index) => (names.filter((each) => each === name).length > 1 ? `${name} ${number(index)}` : name));
}

export function Memory({ content }: { content: Content }) {
  const answer = content.memory;
  const rows = answer?.processes ?? [];
  const labels = useMemo(() => labelled(rows), [answer]);
  const [xs, lines] = useMemo(() => {
    const at = [...new Set(rows.flatMap((each) => each.points.map((point) => point.at_ns)))].sort((a, b) => a - b);
    const place = new Map(at.map((each, index) => [each, index]));
    return [at, rows.map((each, index) => {
      const values: (number | null)[] = at.map(() => null);
      each.points.forEach((point) => { values[place.get(point.at_ns)!] = point.resident_bytes; });
      return { label: labels[index], colour: series(index), values, fill: rows.length === 1 };
    })] as const;
  }, [answer]);
  if (!answer || !rows.length) return <Page title="Memory"><Empty>{content.nothing.memory}</Empty></Page>;
  const short = shortNames((answer.lines ?? []).map((each) => each.location.file));
  const peak = Math.max(...rows.map((each) => each.peak_bytes));
  const limit = answer.limit_bytes ?? answer.machine_bytes;
  return (
    <Page title="Memory" note={content.facts.is_trace ? "What the allocator had handed out while the trace was recorded." : "Resident memory: what the processes actually hold."}>
      <div class="figures">
        <Figure label="peak of a process" value={size(peak)} note={limit ? `of ${size(limit)}` : undefined} />
        {rows[0].growth_bytes_per_step !== null && <Figure label="grows by" value={size(rows[0].growth_bytes_per_step)} note="per step, in the main process" />}
        <Figure label="at the end" value={size(rows[0].last_bytes)} note={`${size(rows[0].first_bytes)} at the beginning`} />
      </div>
      <Panel title="Over time"><Plot label={content.facts.is_trace ? "Allocated memory over time" : "Resident memory over time"} xs={xs as number[]} lines={lines as never} height={300} x={duration} y={size} yMin={0} binary /></Panel>
      <Panel title="Processes">
        <Table label="processes" rows={rows.map((row, index) => ({ ...row, index }))} sort="peak" rowKey={(row) => String(row.index)}
          columns={[
            { key: "process", title: "process", text: true, wide: true, value: (row) => processName(row.process), cell: (row) => <><i class="swatch" style={{ backgroundColor: series(row.index) }} /> {labels[row.index]}</> },
            { key: "first", title: "first", value: (row) => row.first_bytes, cell: (row) => size(row.first_bytes) },
            { key: "peak", title: "peak", value: (row) => row.peak_bytes, cell: (row) => size(row.peak_bytes) },
            { key: "last", title: "last", value: (row) => row.last_bytes, cell: (row) => size(row.last_bytes) },
            { key: "growth", title: "growth per step", value: (row) => row.growth_bytes_per_step, cell: (row) => size(row.growth_bytes_per_step) },
          ]} />
      </Panel>
      {answer.lines && answer.lines.length > 0 && (
        <Panel title="By line" note="what operators allocated in the windows, and what of it stayed">
          <Table label="lines" rows={answer.lines} sort="kept" rowKey={(row, index) => `${row.location.file}:${row.location.line}:${index}`} find={(row) => `${row.location.file} ${row.source ?? ""} ${row.location.function ?? ""}`}
            columns={[
              { key: "place", title: "line", text: true, value: (row) => `${row.location.file}:${row.location.line}`, cell: (row) => <Place at={row.location} short={short} /> },
              { key: "function", title: "in", text: true, value: (row) => row.location.function, cell: (row) => <Name text={row.location.function} class="faint" /> },
              ...(rows.length > 1 ? [{ key: "process", title: "process", text: true, value: (row: LineMemory) => processName(row.process) }] : []),
              { key: "kept", title: "kept", value: (row) => row.kept_bytes, cell: (row) => size(row.kept_bytes) },
              { key: "alloc", title: "allocated", value: (row) => row.alloc_bytes, cell: (row) => size(row.alloc_bytes) },
              { key: "source", title: "source", text: true, wide: true, value: (row) => row.source, cell: (row) => <code>{visible((row.source ?? "").trim())}</code> },
            ]} />
        </Panel>
      )}
      <Notes notes={answer.notes} />
    </Page>
  );
}
