// What is shown of a part of the timeline: under the pointer, chosen, or between two moments.
import { useMemo } from "preact/hooks";
import type { Content, Counter, Timeline } from "../data";
import { count, counted, duration, kernelName, percent } from "../format";
import { Cut, Kernel, Link, Name, Place, visible } from "./links";
import { Panel } from "./panel";
import { Table } from "./table";
import { colourOf, flowsOf, shownValue, valueAt } from "./timeline_drawing";
import { laneName, spanFrom, sums, type Span, type Track } from "./tracks";

export function CounterTip({ counter, at }: { counter: Counter; at: number }) {
  const value = valueAt(counter, at);
  return <div><b>{visible(counter.title)}</b><div>{value === null ? "not known" : shownValue(counter, value)}, at {duration(at)}</div></div>;
}

const placeOf = (data: Timeline, { track, at }: Span) => (track.place && track.place[at] >= 0 ? data.places[track.place[at]] : null);

export function SpanTip({ data, span }: { data: Timeline; span: Span }) {
  const { track: each, at } = span;
  const place = placeOf(data, span);
  const many = each.count?.[at] ?? 1;
  return (
    <div>
      <b>{visible(data.names[each.name[at]] ?? "")}</b>
      {many > 1 && <div>and {counted(many - 1, "other short one")} close by</div>}
      <div>{duration(each.end[at] - each.start[at])}, from {duration(each.start[at])}</div>
      <div class="faint">{visible(laneName(each.lane))}</div>
      {place && <div class="faint">{visible(place.file)}:{place.line}{place.function ? ` in ${visible(place.function)}` : ""}</div>}
    </div>
  );
}

// All spans of the same name on lanes of the same kind.
function alike(tracks: Track[], { track, at }: Span): { ns: number; count: number } {
  const [found] = sums(tracks.filter((each) => each.lane.kind === track.lane.kind), -Infinity, Infinity).filter((each) => each.name === track.name[at]);
  return found ?? { ns: 0, count: 0 };
}

interface ChosenProps { content: Content; data: Timeline; tracks: Track[]; span: Span; own: Set<string>; onFit: () => void; onSpan: (span: Span) => void }

export function Chosen({ content, data, tracks, span, own, onFit, onSpan }: ChosenProps) {
  const { track: each, at } = span;
  const name = data.names[each.name[at]] ?? "";
  const place = placeOf(data, span);
  const step = each.lane.kind === "step" && /^step (\d+)$/.exec(name);
  const operator = each.lane.kind === "operator" && content.ops?.ops.some((row) => row.name === name);
  const finding = each.lane.kind === "finding" && content.findings?.findings.find((one) => one.title === name);
  const all = useMemo(() => alike(tracks, span), [tracks, span]); // the page is drawn again with every move
  const process = data.processes[each.lane.process];
  return (
    <Panel title={<><i class="swatch" style={{ backgroundColor: colourOf(each.lane.kind, name, place?.file, own) }} /> {each.lane.kind === "device" ? <Kernel text={name} /> : <Name text={name} />}</>}
      note={visible([process, each.lane.thread, each.lane.title].filter(Boolean).join(" · "))}
      actions={<><button type="button" onClick={onFit}>Fit (f)</button>
        {step && <Link page="steps" query={{ step: step[1] }}>Open the step</Link>}
        {finding && <Link page="overview" query={{ finding: finding.id }}>Open the finding</Link>}
        {operator && <Link page="operators" query={{ op: name }}>In the table</Link>}</>}>
      <p>
        {duration(each.end[at] - each.start[at])} from {duration(each.start[at])}
        {each.count && each.count[at] > 1 ? `, ${count(each.count[at])} spans` : ""}
        {place && <> · {own.has(place.file) ? <Place at={place} /> : <span class="faint">{visible(place.file)}:{place.line}</span>}{place.function && <> in <Name text={place.function} /></>}</>}
      </p>
      {all.count > 1 && <p class="faint">All of this name: {duration(all.ns)} in {counted(all.count, "span")}, {duration(all.ns / all.count)} on average.</p>}
      <Related data={data} tracks={tracks} span={span} onSpan={onSpan} />
    </Panel>
  );
}

const MOST_RELATED = 8;

const named = (data: Timeline, { track, at }: Span) => (track.lane.kind === "device" ? kernelName : String)(data.names[track.name[at]] ?? "");

// The other ends of its arrows: from launch to kernel, from forward to backward.
function Related({ data, tracks, span, onSpan }: { data: Timeline; tracks: Track[]; span: Span; onSpan: (span: Span) => void }) {
  const flows = useMemo(() => flowsOf(data, span), [data, span]);
  const ends = useMemo(() => flows.slice(0, MOST_RELATED).map(([a, from, b, to]) => {
    const isFrom = a === span.track.index && from >= span.track.start[span.at] - 1 && from <= span.track.end[span.at] + 1;
    const other = spanFrom(tracks, isFrom ? b : a, isFrom ? to : from);
    const isDevice = [a, b].some((index) => tracks.find((each) => each.index === index)?.lane.kind === "device");
    return { other, what: isDevice ? (isFrom ? "launched" : "launched by") : isFrom ? "its backward" : "its forward" };
  }), [flows, tracks]);
  if (!flows.length) return null;
  return (
    <p class="related">
      <span class="faint">{counted(flows.length, "arrow")}:</span>
      {ends.map(({ other, what }, index) => other && (
        <button key={index} type="button" onClick={() => onSpan(other)}>{what} <Cut text={named(data, other)} most={48} /></button>
      ))}
    </p>
  );
}

export function Selected({ data, tracks, range, onClear }: { data: Timeline; tracks: Track[]; range: [number, number]; onClear: () => void }) {
  const [from, to] = [Math.min(...range), Math.max(...range)];
  const rows = useMemo(() => sums(tracks, from, to), [tracks, from, to]);
  return (
    <Panel title={`Selected: ${duration(to - from)}`} note={`from ${duration(from)}`} actions={<button type="button" onClick={onClear}>Clear</button>}>
      <Table label="selected spans" rows={rows} sort="ns" most={25} rowKey={(row) => `${row.kind} ${row.name}`} find={(row) => `${data.names[row.name]} ${row.lanes.join(" ")}`}
        columns={[
          { key: "name", title: "what", text: true, wide: true, value: (row) => data.names[row.name], cell: (row) => (row.kind === "device" ? <Kernel text={data.names[row.name]} /> : <Name text={data.names[row.name]} />) },
          { key: "lane", title: "lane", text: true, value: (row) => row.lanes[0], cell: (row) => <Name class="faint" text={row.lanes.length > 1 ? `${row.kind}, ${row.lanes.length} lanes` : row.lanes[0]} /> },
          { key: "count", title: "spans", value: (row) => row.count, cell: (row) => count(row.count) },
          { key: "ns", title: "time", value: (row) => row.ns, cell: (row) => duration(row.ns) },
          { key: "mean", title: "mean", value: (row) => row.ns / row.count, cell: (row) => duration(row.ns / row.count) },
          { key: "share", title: "share", value: (row) => row.ns, cell: (row) => percent(row.ns / (to - from || 1)) },
        ]} />
    </Panel>
  );
}
