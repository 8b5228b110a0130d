// Threads, workers, streams and ranks on one clock: pan, zoom, find, select.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { scaleLinear } from "d3-scale";
import type { Content, Timeline as Data } from "../data";
import { count, counted, duration, percent } from "../format";
import { go, useRoute } from "../route";
import { useTheme } from "../theme";
import { prepared, useDrawing, useWidth } from "../parts/measure";
import { Name, Place, visible } from "../parts/links";
import { Empty, Page, Panel, Search } from "../parts/panel";
import { Table } from "../parts/table";
import { Tip, type Pointed } from "../parts/tip";
import { AXIS, MOST_LEVELS, ROW, laidOut, spanAt, sums, track, type Laid, type Span, type Track } from "../parts/tracks";
import { GUTTER, colourOf, draw, flowsOf } from "../parts/timeline_drawing";

export type Tiles = (from: number, to: number, width: number) => Promise<Data | null>;

const tallest = () => Math.max(360, innerHeight - 250);
const AGAIN_MS = 1000;

// Whether a tile has the view at full resolution, and extends beyond both sides if there is more.
function isFine(tile: Data, view: [number, number], whole: [number, number]): boolean {
  const wide = view[1] - view[0];
  const before = tile.from_ns <= Math.max(whole[0], view[0] - wide / 8), after = tile.to_ns >= Math.min(whole[1], view[1] + wide / 8);
  return before && after && tile.to_ns - tile.from_ns < 4 * wide;
}

function SpanTip({ data, span }: { data: Data; span: Span }) {
  const { track: each, at } = span;
  const place = each.place && each.place[at] >= 0 ? data.places[each.place[at]] : null;
  const many = each.count?.[at] ?? 1;
  return (
    <div>
      <b>{visible(data.names[each.name[at]] ?? "")}</b>
      {many > 1 && <div>and {counted(many - 1, "other short one")} close by</div>}
      <div>{duration(each.end[at] - each.start[at])}, from {duration(each.start[at])}</div>
      <div class="faint">{visible(`${each.lane.thread}: ${each.lane.title}`)}</div>
      {place && <div class="faint">{visible(place.file)}:{place.line}{place.function ? ` in ${visible(place.function)}` : ""}</div>}
    </div>
  );
}

export function Timeline({ content, tiles }: { content: Content; tiles: Tiles | null }) {
  const data = content.timeline;
  if (!data || !data.lanes.length) return <Page title="Timeline"><Empty>Nothing that could be drawn over time was recorded.</Empty></Page>;
  return <Drawn content={content} data={data} tiles={tiles} />;
}

function Drawn({ content, data, tiles }: { content: Content; data: Data; tiles: Tiles | null }) {
  const { query } = useRoute();
  const [box, width] = useWidth<HTMLDivElement>();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, theme] = useTheme();
  const whole: [number, number] = [data.from_ns, Math.max(data.to_ns, data.from_ns + 1)];
  const asked: [number, number] = query.to ? [Number(query.from) || 0, Number(query.to)] : whole;
  const [view, setView] = useState<[number, number]>(asked[1] > asked[0] ? asked : whole);
  const [scroll, setScroll] = useState(0);
  const [find, setFind] = useState(query.find ?? "");
  const [folded, setFolded] = useState<Set<number>>(new Set());
  const [unfolded, setUnfolded] = useState<Set<number>>(new Set());
  const [selected, setSelected] = useState<Span | null>(null);
  const [over, setOver] = useState<Span | null>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [range, setRange] = useState<[number, number] | null>(null);
  const [tile, setTile] = useState<Data | null>(null);
  const [missed, setMissed] = useState(0);
  const drag = useRef<{ x: number; view: [number, number]; selects: boolean; moved: boolean } | null>(null);

  const base = useMemo(() => data.lanes.map(track), [data]);
  const fine = useMemo(() => (tile ? tile.lanes.map(track) : null), [tile]);
  const covers = tile && tile.from_ns <= view[0] && tile.to_ns >= view[1];
  const tracks: Track[] = covers && fine ? fine : base;
  const own = useMemo(() => new Set(content.lines.map((each) => each.file)), [content]);
  const layout = useMemo(() => laidOut(tracks, data, folded, unfolded), [tracks, folded, unfolded]);
  const height = Math.min(tallest(), layout.height);
  const x = scaleLinear(view, [GUTTER, Math.max(GUTTER + 10, width)]);
  const shown = covers && tile ? { ...data, flows: tile.flows } : data;

  useEffect(() => { if (query.to && asked[1] > asked[0]) setView(asked); }, [query.from, query.to]);
  useEffect(() => { if (query.find !== undefined) setFind(query.find); }, [query.find]);

  // The viewer's server has every span: the visible part and as much again is requested before it is needed, one tile at a time.
  const asking = useRef(false);
  useEffect(() => setTile(null), [data]);
  const isWhole = useMemo(() => data.lanes.every((each) => each.spans === each.start.length), [data]);
  useEffect(() => {
    if (!tiles || width < 50 || isWhole || asking.current || (tile && isFine(tile, view, whole))) return;
    asking.current = true;
    const margin = (view[1] - view[0]) / 2;
    void tiles(Math.floor(view[0] - margin), Math.ceil(view[1] + margin), 2 * width).then((found) => {
      asking.current = false;
      if (found) setTile(found); else setTimeout(() => setMissed((before) => before + 1), AGAIN_MS);
    });
  }, [view[0], view[1], width, tiles, tile, missed]);

  useDrawing(() => {
    if (!canvas.current || width < 50) return;
    draw(prepared(canvas.current, width, height), shown, layout, { from: view[0], to: view[1], width, height, scroll, find, selected, over, range, own });
    canvas.current.dataset.drawn = covers || isWhole ? "all" : "few";
  }, [shown, layout, view, width, height, scroll, find, selected, over, range, theme]);

  const bounded = (from: number, to: number): [number, number] => {
    const least = 200, most = (whole[1] - whole[0]) * 1.02;
    const wide = Math.max(least, Math.min(most, to - from));
    const first = Math.max(whole[0] - wide * 0.5, Math.min(whole[1] - wide * 0.5, from + (to - from - wide) / 2));
    return [first, first + wide];
  };
  const zoom = (factor: number, around = (view[0] + view[1]) / 2) =>
    setView((now) => bounded(around - (around - now[0]) * factor, around + (now[1] - around) * factor));
  const pan = (share: number) => setView((now) => bounded(now[0] + (now[1] - now[0]) * share, now[1] + (now[1] - now[0]) * share));

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      const at = event.clientX - element.getBoundingClientRect().left;
      if (event.ctrlKey || event.altKey || event.metaKey) {
        event.preventDefault();
        zoom(Math.exp(event.deltaY * 0.0035), x.invert(Math.max(GUTTER, at)));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / Math.max(200, width - GUTTER));
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const placeOf = (event: MouseEvent): [number, number] => {
    const rect = canvas.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const laneAt = (y: number): Laid | undefined => layout.laid.find((each) => y >= each.top && y < each.top + each.height);
  const spanUnder = (event: MouseEvent): Span | null => {
    const [px, py] = placeOf(event);
    const laid = py > AXIS && px > GUTTER ? laneAt(py + scroll) : undefined;
    if (!laid) return null;
    const level = Math.floor((py + scroll - laid.top) / ROW);
    const at = spanAt(laid.track, level, x.invert(px), (view[1] - view[0]) / Math.max(1, width - GUTTER));
    return at < 0 ? null : { track: laid.track, at };
  };

  const move = (event: MouseEvent) => {
    const held = drag.current;
    const [px] = placeOf(event);
    if (held) {
      held.moved ||= Math.abs(px - held.x) > 3;
      if (held.selects) setRange([x.invert(held.x), x.invert(Math.max(GUTTER, px))]);
      else {
        const by = ((held.x - px) / Math.max(10, width - GUTTER)) * (held.view[1] - held.view[0]);
        setView(bounded(held.view[0] + by, held.view[1] + by));
      }
      setPointed(null);
      return;
    }
    const span = spanUnder(event);
    setOver(span);
    setPointed(span && { x: event.clientX, y: event.clientY, tip: <SpanTip data={data} span={span} /> });
  };
  const release = (event: MouseEvent) => {
    const held = drag.current;
    drag.current = null;
    if (held?.moved) return;
    const [px, py] = placeOf(event);
    if (px < GUTTER) {
      const laid = laneAt(py + scroll);
      if (!laid) return;
      const next = new Set(folded), open = new Set(unfolded);
      const index = laid.track.index;
      // Open, then all levels if there are more, then closed.
      if (folded.has(index)) next.delete(index);
      else if (laid.track.lane.depth > MOST_LEVELS && !unfolded.has(index)) open.add(index);
      else { next.add(index); open.delete(index); }
      setFolded(next);
      setUnfolded(open);
      return;
    }
    setSelected(spanUnder(event));
    if (held?.selects) setRange(null);
  };
  const fit = (span: Span) => {
    const [a, b] = [span.track.start[span.at], span.track.end[span.at]];
    const margin = Math.max(100, (b - a) * 0.15);
    setView(bounded(a - margin, b + margin));
  };
  const key = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = {
      a: () => pan(-0.2), d: () => pan(0.2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
      w: () => zoom(0.7), s: () => zoom(1.4), "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4),
      "0": () => setView(whole), Home: () => setView(whole), f: () => { if (selected) fit(selected); },
      Escape: () => { setSelected(null); setRange(null); },
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    acts[event.key]();
  };

  const hits = useMemo(() => {
    const words = find.toLowerCase();
    if (!words) return [];
    const found: Span[] = [];
    for (const each of tracks) {
      for (let i = 0; i < each.start.length && found.length < 5000; i++) {
        const place = each.place && each.place[i] >= 0 ? data.places[each.place[i]] : null;
        const text = `${data.names[each.name[i]] ?? ""} ${place ? `${place.file}:${place.line}` : ""}`.toLowerCase();
        if (text.includes(words)) found.push({ track: each, at: i });
      }
    }
    return found.sort((a, b) => a.track.start[a.at] - b.track.start[b.at]);
  }, [find, tracks]);
  const next = (back: boolean) => {
    if (!hits.length) return;
    const now = selected ? selected.track.start[selected.at] : -1;
    const later = back ? [...hits].reverse().find((each) => each.track.start[each.at] < now) : hits.find((each) => each.track.start[each.at] > now);
    const span = later ?? hits[back ? hits.length - 1 : 0];
    setSelected(span);
    fit(span);
    const laid = layout.laid.find((each) => each.track.index === span.track.index);
    if (laid) scroller.current?.scrollTo(0, Math.max(0, laid.top - height / 3));
  };
  const statistics = useMemo(() => (range ? sums(tracks, Math.min(...range), Math.max(...range)) : []), [range, tracks]);
  const steps = base.find((each) => each.lane.kind === "step");
  const isReduced = !covers && !isWhole;

  return (
    <Page title="Timeline" note={<>{duration(whole[1] - whole[0])}, {counted(data.processes.length, "process", "processes")}, {count(data.lanes.reduce((sum, each) => sum + each.spans, 0))} spans{isReduced && !tiles && " (reduced: stepscope view shows all)"}</>}
      actions={<>
        <Search value={find} onInput={setFind} onEnter={next} placeholder="Find, then Enter" />
        <span class="faint">{find ? counted(hits.length, "hit") : ""}</span>
        <button type="button" title="w or +" onClick={() => zoom(0.6)}>+</button>
        <button type="button" title="s or −" onClick={() => zoom(1.6)}>−</button>
        {steps && steps.start.length > 0 && <button type="button" onClick={() => setView(bounded(steps.start[0], Math.max(...steps.end)))}>Steps</button>}
        <button type="button" title="0" onClick={() => setView(whole)}>Whole run</button>
      </>}>
      <Panel class="timeline">
        <div ref={box}>
          <div ref={scroller} class="scroller" style={{ height: `${height}px` }} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
            <div style={{ height: `${layout.height}px` }}>
              <canvas ref={canvas} tabIndex={0} role="img" aria-label="Timeline. Keys: a, d pan; w, s zoom; 0 the whole; f fits what is chosen."
                onMouseMove={move} onMouseLeave={() => { setPointed(null); setOver(null); drag.current = null; }}
                onMouseDown={(event) => { drag.current = { x: placeOf(event)[0], view, selects: event.shiftKey, moved: false }; }}
                onMouseUp={release} onDblClick={(event) => { const span = spanUnder(event); if (span) fit(span); }} onKeyDown={key} />
            </div>
          </div>
        </div>
        <p class="faint small">Drag pans, Shift and drag selects, Ctrl and wheel zooms, double click fits; keys a d w s 0 f. A lane's name folds it.</p>
      </Panel>
      <Tip at={pointed} />
      {selected && <Chosen content={content} data={shown} span={selected} own={own} onFit={() => fit(selected)} />}
      {range && (
        <Panel title={`Selected: ${duration(Math.abs(range[1] - range[0]))}`} note={`from ${duration(Math.min(...range))}`} actions={<button type="button" onClick={() => setRange(null)}>Clear</button>}>
          <Table label="what is in it" rows={statistics} sort="ns" most={25} rowKey={(row) => `${row.lane} ${row.name}`} find={(row) => `${data.names[row.name]} ${row.lane}`}
            columns={[
              { key: "name", title: "what", text: true, wide: true, value: (row) => data.names[row.name], cell: (row) => <Name text={data.names[row.name]} /> },
              { key: "lane", title: "lane", text: true, value: (row) => row.lane, cell: (row) => <Name class="faint" text={row.lane} /> },
              { key: "count", title: "spans", value: (row) => row.count, cell: (row) => count(row.count) },
              { key: "ns", title: "time", value: (row) => row.ns, cell: (row) => duration(row.ns) },
              { key: "share", title: "share", value: (row) => row.ns, cell: (row) => percent(row.ns / (Math.abs(range[1] - range[0]) || 1)) },
            ]} />
        </Panel>
      )}
    </Page>
  );
}

function Chosen({ content, data, span, own, onFit }: { content: Content; data: Data; span: Span; own: Set<string>; onFit: () => void }) {
  const { track: each, at } = span;
  const name = data.names[each.name[at]] ?? "";
  const place = each.place && each.place[at] >= 0 ? data.places[each.place[at]] : null;
  const flows = flowsOf(data, span);
  const step = each.lane.kind === "step" && /^step (\d+)$/.exec(name);
  const operator = each.lane.kind === "operator" && content.ops?.ops.some((row) => row.name === name);
  return (
    <Panel title={<><i class="swatch" style={{ backgroundColor: colourOf(each.lane.kind, name, place?.file, own) }} /> <Name text={name} /></>} note={visible(`${data.processes[each.lane.process]} · ${each.lane.thread}: ${each.lane.title}`)}
      actions={<><button type="button" onClick={onFit}>Fit (f)</button>
        {step && <button type="button" onClick={() => go("steps", { step: step[1] })}>Open the step</button>}
        {operator && <button type="button" onClick={() => go("operators", { op: name })}>In the table</button>}</>}>
      <p>
        {duration(each.end[at] - each.start[at])} from {duration(each.start[at])}
        {each.count && each.count[at] > 1 ? `, ${count(each.count[at])} spans` : ""}
        {place && <> · {own.has(place.file) ? <Place at={place} /> : <span class="faint">{visible(place.file)}:{place.line}</span>}{place.function && <> in <Name text={place.function} /></>}</>}
        {flows.length > 0 && <span class="faint"> · {counted(flows.length, "arrow")} to related spans</span>}
      </p>
    </Panel>
  );
}
