// Threads, workers, streams and ranks on one clock: pan, zoom, find, select, measure.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { scaleLinear } from "d3-scale";
import type { Content, Timeline as Data } from "../data";
import { counted, duration } from "../format";
import { change, useRoute } from "../route";
import { useTheme } from "../theme";
import { prepared, useDrawing, useWidth } from "../parts/measure";
import { Empty, Page, Panel, Search } from "../parts/panel";
import { Tip, type Pointed } from "../parts/tip";
import { Chosen, CounterTip, Selected, SpanTip } from "../parts/timeline_details";
import { AXIS, MOST_LEVELS, ROW, counterTracks, findingTrack, laidOut, spanAt, spanFrom, track, type Laid, type Span, type Track } from "../parts/tracks";
import { GUTTER, PIN, draw } from "../parts/timeline_drawing";

export type Tiles = (from: number, to: number, width: number) => Promise<Data | null>;

const tallest = () => Math.max(360, innerHeight - 250);
const AGAIN_MS = 1000;
const WRITTEN_MS = 300; // the address follows when the view rests

// Whether a tile has the view at full resolution, and extends beyond both sides if there is more.
function isFine(tile: Data, view: [number, number], whole: [number, number]): boolean {
  const wide = view[1] - view[0];
  const before = tile.from_ns <= Math.max(whole[0], view[0] - wide / 8), after = tile.to_ns >= Math.min(whole[1], view[1] + wide / 8);
  return before && after && tile.to_ns - tile.from_ns < 4 * wide;
}

export function Timeline({ content, tiles }: { content: Content; tiles: Tiles | null }) {
  const data = content.timeline;
  if (!data || !data.lanes.length) return <Page title="Timeline"><Empty>Nothing that could be drawn over time was recorded.</Empty></Page>;
  return <Drawn content={content} data={data} tiles={tiles} />;
}

// The lanes as arrays, with the page's own: findings on top, counters at the head of each process.
function useTracks(content: Content, data: Data, tile: Data | null): { base: Track[]; fine: Track[] | null; named: Data } {
  const base = useMemo(() => data.lanes.map(track), [data]);
  const own = useMemo(() => {
    const findings = findingTrack(content, data, base, base.length);
    return { findings: findings ? [findings] : [], counters: counterTracks(data.counters, base.length + 1) };
  }, [content, data, base]);
  const named = useMemo(() => ({ ...data, names: [...data.names, ...(content.findings?.findings ?? []).map((each) => each.title)] }), [content, data]);
  const together = (tracks: Track[]) => {
    const found = [...own.findings];
    let process = -1;
    for (const each of tracks) {
      if (each.lane.process !== process) found.push(...own.counters.filter((one) => one.lane.process === each.lane.process));
      process = each.lane.process;
      found.push(each);
    }
    return found;
  };
  return {
    base: useMemo(() => together(base), [base, own]),
    fine: useMemo(() => (tile ? together(tile.lanes.map(track)) : null), [tile, own]), named,
  };
}

// "100..200" in the address: two moments.
function moments(text: string | undefined): [number, number] | null {
  const [from, to] = (text ?? "").split("..").map(Number);
  return Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

// The visible part, which is also in the address: one that was changed there is taken over.
function useView(whole: [number, number]): [[number, number], (next: (now: [number, number]) => [number, number]) => void] {
  const { query } = useRoute();
  const asked: [number, number] = query.to ? [Number(query.from) || 0, Number(query.to)] : whole;
  const [view, setView] = useState<[number, number]>(asked[1] > asked[0] ? asked : whole);
  const written = useRef(`${query.from}|${query.to}`);
  useEffect(() => {
    if (written.current === `${query.from}|${query.to}`) return;
    written.current = `${query.from}|${query.to}`;
    setView(asked[1] > asked[0] ? asked : whole);
  }, [query.from, query.to]);
  useEffect(() => {
    const isWhole = view[0] === whole[0] && view[1] === whole[1];
    const next = isWhole ? { from: undefined, to: undefined } : { from: String(Math.round(view[0])), to: String(Math.round(view[1])) };
    const text = `${next.from}|${next.to}`;
    if (text === written.current) return;
    const timer = setTimeout(() => { written.current = text; change({ from: next.from, to: next.to }, true); }, WRITTEN_MS);
    return () => clearTimeout(timer);
  }, [view]);
  return [view, setView];
}

function Drawn({ content, data, tiles }: { content: Content; data: Data; tiles: Tiles | null }) {
  const { query } = useRoute();
  const [box, width] = useWidth<HTMLDivElement>();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, theme] = useTheme();
  const whole: [number, number] = [data.from_ns, Math.max(data.to_ns, data.from_ns + 1)];
  const [view, setView] = useView(whole);
  const [scroll, setScroll] = useState(0);
  const find = query.find ?? "";
  const setFind = (words: string) => change({ find: words }, true);
  const [folded, setFolded] = useState<Set<number>>(new Set());
  const [unfolded, setUnfolded] = useState<Set<number>>(new Set());
  const pinned = useMemo(() => new Set((query.pin ?? "").split(".").filter(Boolean).map(Number)), [query.pin]);
  const [over, setOver] = useState<Span | null>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [dragged, setDragged] = useState<[number, number] | null>(null); // it is written when it is there as a whole
  const measured = useMemo(() => moments(query.measured), [query.measured]);
  const range = dragged ?? measured;
  const setRange = (next: [number, number] | null) => {
    setDragged(null);
    if (next || query.measured) change({ measured: next && next.map(Math.round).join("..") });
  };
  const [mark, setMark] = useState<number | null>(null);
  const [tile, setTile] = useState<Data | null>(null);
  const [missed, setMissed] = useState(0);
  const drag = useRef<{ x: number; y: number; top: number; view: [number, number]; selects: boolean; moved: boolean } | null>(null);
  const pointer = useRef<number | null>(null); // x of the mouse over the canvas

  const { base, fine, named } = useTracks(content, data, tile);
  const covers = tile && tile.from_ns <= view[0] && tile.to_ns >= view[1];
  const tracks: Track[] = covers && fine ? fine : base;
  const own = useMemo(() => new Set(content.lines.map((each) => each.file)), [content]);
  const layout = useMemo(() => laidOut(tracks, data, { folded, unfolded, pinned }), [tracks, folded, unfolded, pinned]);
  const titles = useMemo(() => layout.laid.map((each) => each.track.lane.title).join("|"), [layout]);
  const height = Math.min(tallest(), layout.height);
  const x = scaleLinear(view, [GUTTER, Math.max(GUTTER + 10, width)]);
  const shown = useMemo(() => (covers && tile ? { ...named, flows: tile.flows } : named), [covers, tile, named]);
  // Chosen in the address: the lane, and when the span begins.
  const selected = useMemo(() => (query.at ? spanFrom(tracks, Number(query.lane), Number(query.at), Number(query.level)) : null), [tracks, query.lane, query.at, query.level]);
  const select = (span: Span | null) => change(span
    ? { lane: span.track.index, at: Math.round(span.track.start[span.at]), level: span.track.level[span.at] } : { lane: null, at: null, level: null });

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
    draw(prepared(canvas.current, width, height), shown, layout, { from: view[0], to: view[1], width, height, scroll, find, selected, over, range, own, mark });
    canvas.current.dataset.drawn = covers || isWhole ? "all" : "few";
  }, [shown, layout, view, width, height, scroll, find, selected, over, range, mark, theme]);

  const bounded = (from: number, to: number): [number, number] => {
    const least = 200, most = (whole[1] - whole[0]) * 1.02;
    const wide = Math.max(least, Math.min(most, to - from));
    const first = Math.max(whole[0] - wide * 0.5, Math.min(whole[1] - wide * 0.5, from + (to - from - wide) / 2));
    return [first, first + wide];
  };
  const zoom = (factor: number, around?: number) => setView((now) => {
    const at = around ?? (now[0] + now[1]) / 2;
    return bounded(at - (at - now[0]) * factor, at + (now[1] - at) * factor);
  });
  const pan = (share: number) => setView((now) => bounded(now[0] + (now[1] - now[0]) * share, now[1] + (now[1] - now[0]) * share));
  const show = (from: number, to: number) => setView(() => bounded(from, to));

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      const at = event.clientX - element.getBoundingClientRect().left;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / Math.max(200, width - GUTTER));
      } else if (at >= GUTTER || event.ctrlKey || event.metaKey) { // over the lanes' names it scrolls
        event.preventDefault();
        zoom(Math.exp(event.deltaY * 0.0035), x.invert(Math.max(GUTTER, at)));
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const placeOf = (event: MouseEvent): [number, number] => {
    const rect = canvas.current!.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const laneAt = (py: number): Laid | undefined => layout.laid.find((each) => {
    const y = each.pinned ? py : py + scroll;
    return (each.pinned || py >= AXIS + layout.pinned) && y >= each.top && y < each.top + each.height;
  });
  const spanUnder = (event: MouseEvent): Span | null => {
    const [px, py] = placeOf(event);
    const laid = py > AXIS && px > GUTTER ? laneAt(py) : undefined;
    if (!laid) return null;
    const level = Math.floor((py + (laid.pinned ? 0 : scroll) - laid.top) / ROW);
    const at = spanAt(laid.track, level, x.invert(px), (view[1] - view[0]) / Math.max(1, width - GUTTER));
    return at < 0 ? null : { track: laid.track, at };
  };
  const tipOf = (event: MouseEvent, span: Span | null): Pointed | null => {
    const [px, py] = placeOf(event);
    const counter = px > GUTTER ? laneAt(py)?.track.counter : null;
    const tip = counter ? <CounterTip counter={counter} at={x.invert(px)} /> : span && <SpanTip data={shown} span={span} />;
    return tip ? { x: event.clientX, y: event.clientY, tip } : null;
  };

  const move = (event: MouseEvent) => {
    const held = drag.current;
    const [px, py] = placeOf(event);
    pointer.current = px;
    if (held) {
      held.moved ||= Math.hypot(px - held.x, py - held.y) > 3;
      if (held.selects) setDragged([x.invert(held.x), x.invert(Math.max(GUTTER, px))]);
      else {
        const by = ((held.x - px) / Math.max(10, width - GUTTER)) * (held.view[1] - held.view[0]);
        setView(() => bounded(held.view[0] + by, held.view[1] + by));
        scroller.current?.scrollTo(0, held.top + held.y - py);
      }
      setPointed(null);
      return;
    }
    const span = spanUnder(event);
    setOver(span);
    setPointed(tipOf(event, span));
  };
  const clickName = (laid: Laid, px: number) => {
    const index = laid.track.index;
    if (px < PIN) {
      const next = new Set(pinned);
      if (!next.delete(index)) next.add(index);
      change({ pin: [...next].join(".") }, true);
      return;
    }
    const next = new Set(folded), open = new Set(unfolded);
    // Open, then all levels if there are more, then closed.
    if (folded.has(index)) next.delete(index);
    else if (laid.track.lane.depth > MOST_LEVELS && !unfolded.has(index)) open.add(index);
    else { next.add(index); open.delete(index); }
    setFolded(next);
    setUnfolded(open);
  };
  const release = (event: MouseEvent) => {
    const held = drag.current;
    drag.current = null;
    if (held?.moved && dragged) setRange(dragged);
    if (held?.moved) return;
    const [px, py] = placeOf(event);
    const laid = px < GUTTER ? laneAt(py) : undefined;
    if (laid) clickName(laid, px);
    if (px < GUTTER) return;
    select(spanUnder(event));
    if (held?.selects) setRange(null);
  };
  const fit = (span: Span) => {
    const [a, b] = [span.track.start[span.at], span.track.end[span.at]];
    const margin = Math.max(100, (b - a) * 0.15);
    show(a - margin, b + margin);
  };
  // From one m to the next: the time between two points.
  const measure = () => {
    if (pointer.current === null) return;
    const at = x.invert(Math.max(GUTTER, pointer.current));
    if (mark === null) { setMark(at); return; }
    setRange([mark, at]);
    setMark(null);
  };
  const key = (event: KeyboardEvent) => {
    const scrolls = (by: number) => scroller.current?.scrollBy(0, by);
    const acts: Record<string, () => void> = {
      a: () => pan(-0.2), d: () => pan(0.2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
      w: () => zoom(0.7), s: () => zoom(1.4), "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4),
      ArrowUp: () => scrolls(-60), ArrowDown: () => scrolls(60), m: measure,
      "0": () => setView(() => whole), Home: () => setView(() => whole), f: () => { if (selected) fit(selected); },
      Escape: () => { select(null); setRange(null); setMark(null); },
    };
    const typing = event.target instanceof HTMLElement && !!event.target.closest("input, select, textarea, .finder");
    if (typing || !acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  };
  const latest = useRef(key);
  latest.current = key;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => latest.current(event);
    addEventListener("keydown", listener);
    return () => removeEventListener("keydown", listener);
  }, []);

  const hits = useMemo(() => hitsOf(shown, tracks, find), [find, tracks]);
  const visit = (span: Span) => {
    select(span);
    fit(span);
    const laid = layout.laid.find((each) => each.track.index === span.track.index);
    if (laid && !laid.pinned) scroller.current?.scrollTo(0, Math.max(0, laid.top - height / 3));
  };
  const next = (back: boolean) => {
    if (!hits.length) return;
    const now = selected ? selected.track.start[selected.at] : -1;
    const later = back ? [...hits].reverse().find((each) => each.track.start[each.at] < now) : hits.find((each) => each.track.start[each.at] > now);
    visit(later ?? hits[back ? hits.length - 1 : 0]);
  };
  const steps = base.find((each) => each.lane.kind === "step");
  const isReduced = !covers && !isWhole;

  return (
    <Page title="Timeline" note={<>{duration(whole[1] - whole[0])}, {counted(data.processes.length, "process", "processes")}, {counted(data.lanes.reduce((sum, each) => sum + each.spans, 0), "span")}{isReduced && !tiles && ", reduced"}</>}
      actions={<>
        <Search value={find} onInput={setFind} onEnter={next} placeholder="Find, then Enter" />
        <span class="faint">{find ? counted(hits.length, "hit") : ""}</span>
        <button type="button" title="w or +" onClick={() => zoom(0.6)}>+</button>
        <button type="button" title="s or −" onClick={() => zoom(1.6)}>−</button>
        {steps && steps.start.length > 0 && <button type="button" onClick={() => show(steps.start[0], steps.end.reduce((a, b) => Math.max(a, b)))}>Steps</button>}
        <button type="button" title="0" onClick={() => setView(() => whole)}>Whole run</button>
      </>}>
      <Panel class="timeline">
        <div ref={box}>
          <div ref={scroller} class="scroller" style={{ height: `${height}px` }} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}>
            <div style={{ height: `${layout.height}px` }}>
              <canvas ref={canvas} tabIndex={0} role="img" aria-label="Timeline. Keys: a, d pan; w, s zoom; 0 the whole; f fits what is chosen; m measures."
                data-lanes={titles} data-view={`${Math.round(view[0])} ${Math.round(view[1])}`}
                onMouseMove={move} onMouseLeave={() => { setPointed(null); setOver(null); drag.current = null; pointer.current = null; setDragged(null); }}
                onMouseDown={(event) => { const [px, py] = placeOf(event); drag.current = { x: px, y: py, top: scroll, view, selects: event.shiftKey, moved: false }; }}
                onMouseUp={release} onDblClick={(event) => { const span = spanUnder(event); if (span) fit(span); }} />
            </div>
          </div>
        </div>
        <p class="faint small">Wheel: zoom. Drag: move. Shift and drag, or m at two points: measure. Double click: fit. Keys: a d w s 0 f. A click on a lane's name folds it, on its star pins it.{isReduced && !tiles && " Short spans that lie close together are drawn as one here: stepscope view shows all."}</p>
      </Panel>
      <Tip at={pointed} />
      {selected && <Chosen content={content} data={shown} tracks={tracks} span={selected} own={own} onFit={() => fit(selected)} onSpan={visit} />}
      {range && <Selected data={shown} tracks={tracks} range={range} onClear={() => setRange(null)} />}
    </Page>
  );
}

const MOST_HITS = 5000;

function hitsOf(data: Data, tracks: Track[], find: string): Span[] {
  const words = find.toLowerCase();
  if (!words) return [];
  const found: Span[] = [];
  for (const each of tracks) {
    for (let i = 0; i < each.start.length && found.length < MOST_HITS; i++) {
      const place = each.place && each.place[i] >= 0 ? data.places[each.place[i]] : null;
      const text = `${data.names[each.name[i]] ?? ""} ${place ? `${place.file}:${place.line}` : ""}`.toLowerCase();
      if (text.includes(words)) found.push({ track: each, at: i });
    }
  }
  return found.sort((a, b) => a.track.start[a.at] - b.track.start[b.at]);
}
