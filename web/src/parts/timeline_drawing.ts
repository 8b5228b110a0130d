// Draws the visible part of the timeline on its canvas.
import { scaleLinear } from "d3-scale";
import { byName, inkOn, library, phase, series, themed } from "../colours";
import type { Counter, Location, Timeline } from "../data";
import { count, digits, duration, kernelName, percent, size } from "../format";
import { visible } from "./links";
import { AXIS, HEADING, ROW, firstSeen, tickText, type Laid, type Layout, type Span, type Track } from "./tracks";

const IS_NARROW = innerWidth < 600; // a phone
export const GUTTER = IS_NARROW ? 120 : 190;

export interface View {
  from: number; to: number; width: number; height: number; scroll: number; find: string;
  selected: Span | null; over: Span | null; range: [number, number] | null; own: Set<string>; mark: number | null;
}
export const PIN = 20; // pixels at the left of a lane's name that pin it

export function colourOf(kind: string, name: string, file: string | undefined, own: Set<string>): string {
  if (kind === "phase") return phase(name);
  if (kind === "step") return "#8aa2b8";
  if (kind === "stack") return library(file !== undefined && own.has(file) ? null : file ?? "native");
  if (kind === "file") return phase("files");
  if (kind === "window") return "#c3c9ce";
  if (kind === "finding") return "#d65e00";
  return byName(name);
}

export function draw(context: CanvasRenderingContext2D, timeline: Timeline, layout: Layout, view: View): void {
  const { width, height, from, to } = view;
  const x = scaleLinear([from, to], [GUTTER, width]);
  const ink = themed("--ink"), faint = themed("--faint"), line = themed("--line"), panel = themed("--panel"), accent = themed("--accent");
  context.font = "11.5px system-ui, sans-serif";
  context.textBaseline = "middle";
  const ticks = x.ticks(Math.max(3, (width - GUTTER) / 120));
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : to - from;
  context.fillStyle = line;
  for (const tick of ticks) context.fillRect(Math.round(x(tick)), AXIS, 1, height);
  const below = AXIS + layout.pinned;
  clipped(context, below, width, height, () => {
    const lanes = layout.laid.filter((each) => !each.pinned);
    for (const each of lanes) heading(context, each, each.top - view.scroll, width, height, ink);
    drawLanes(context, timeline, lanes, view, -view.scroll, panel, faint);
  });
  if (layout.pinned) {
    clipped(context, AXIS, width, below - AXIS, () => drawLanes(context, timeline, layout.laid.filter((each) => each.pinned), view, 0, panel, faint));
    context.fillStyle = accent;
    context.fillRect(0, below - 3, width, 1);
  }
  clipped(context, AXIS, width, height, () => drawFlows(context, timeline, layout, view, x, accent), GUTTER);
  clipped(context, AXIS, width, height, () => {
    if (view.range) drawRange(context, view.range, x, height, accent, ink, panel);
    if (view.mark !== null) { context.fillStyle = accent; context.fillRect(x(view.mark), AXIS, 1, height); }
  });
  context.fillStyle = panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = line;
  context.fillRect(0, AXIS - 1, width, 1);
  context.fillStyle = faint;
  context.textAlign = "left";
  for (const tick of ticks) {
    const text = tickText(tick, step), left = x(tick) + 4;
    if (x(tick) >= GUTTER && left + context.measureText(text).width <= width) context.fillText(text, left, AXIS / 2);
  }
}

type Scale = (value: number) => number;

function clipped(context: CanvasRenderingContext2D, top: number, width: number, height: number, draws: () => void, left = 0): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width - left, height);
  context.clip();
  draws();
  context.restore();
}

function heading(context: CanvasRenderingContext2D, each: Laid, top: number, width: number, height: number, ink: string): void {
  if (each.heading === null || top <= 0 || top - HEADING >= height) return;
  context.fillStyle = themed("--sunken");
  context.fillRect(0, top - HEADING, width, HEADING - 5);
  context.fillStyle = ink;
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText(visible(each.heading), 10, top - HEADING / 2 - 2);
  context.font = "11.5px system-ui, sans-serif";
}

const LETTERS = IS_NARROW ? 13 : 24; // of a lane's name

function middled(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.ceil(most * 0.6))}…${text.slice(text.length - Math.floor(most * 0.4) + 1)}`;
}

function drawLanes(context: CanvasRenderingContext2D, timeline: Timeline, lanes: Laid[], view: View, shift: number, panel: string, faint: string): void {
  for (const each of lanes) {
    const top = each.top + shift;
    if (top > view.height || top + each.height < AXIS) continue;
    if (each.track.counter) drawCounter(context, each.track.counter, top, each.height, view);
    else drawLane(context, timeline, each, top, view, panel);
    context.fillStyle = panel;
    context.fillRect(0, top, GUTTER - 4, each.height);
    context.fillStyle = faint;
    context.textAlign = "left";
    const { title, thread } = each.track.lane;
    const isAlone = each.height < 2 * ROW && thread && thread !== "MainThread";
    const name = !isAlone ? title : each.track.lane.kind === "device" ? thread : `${title} · ${thread}`;
    context.fillText(each.pinned ? "★" : "☆", 6, top + ROW / 2);
    context.fillText(`${each.folded ? "▸" : "▾"} ${middled(visible(name), LETTERS)}`, PIN, top + ROW / 2);
    const second = each.track.counter ? `up to ${shownValue(each.track.counter, Math.max(...each.track.counter.values))}` : thread;
    if (each.height >= 2 * ROW && second) context.fillText(middled(visible(second), LETTERS), PIN + 12, top + ROW * 1.5);
  }
}

// A curve in steps, from 0 to the largest value that is in view.
function drawCounter(context: CanvasRenderingContext2D, counter: Counter, top: number, height: number, view: View): void {
  const { at_ns, values } = counter;
  const x = (at: number) => GUTTER + ((at - view.from) / (view.to - view.from)) * (view.width - GUTTER);
  const most = counter.unit === "share" ? 1 : Math.max(1e-9, ...values);
  const base = top + height - 2;
  context.fillStyle = series(["cores", "bytes", "batches", "share"].indexOf(counter.unit) + 1);
  context.globalAlpha = 0.75;
  for (let i = 0; i < at_ns.length; i++) {
    const left = Math.max(GUTTER, x(at_ns[i])), right = Math.min(view.width, x(at_ns[i + 1] ?? 2 * at_ns[i] - (at_ns[i - 1] ?? at_ns[i])));
    const tall = (values[i] / most) * (height - 4);
    if (right > left && tall > 0) context.fillRect(left, base - tall, Math.max(0.5, right - left), tall);
  }
  context.globalAlpha = 1;
}

export const shownValue = (counter: Counter, value: number) =>
  counter.unit === "bytes" ? size(value) : counter.unit === "share" ? percent(value)
    : `${counter.unit === "batches" ? count(value) : digits(value)} ${counter.unit}`;

// The value of a counter at a moment.
export function valueAt(counter: Counter, at: number): number | null {
  let found: number | null = null;
  for (let i = 0; i < counter.at_ns.length && counter.at_ns[i] <= at; i++) found = counter.values[i];
  return found;
}

function drawRange(context: CanvasRenderingContext2D, range: [number, number], x: Scale, height: number, accent: string, ink: string, panel: string): void {
  const [a, b] = [Math.max(GUTTER, x(Math.min(...range))), x(Math.max(...range))];
  context.fillStyle = accent + "26";
  context.fillRect(a, AXIS, b - a, height);
  context.fillStyle = accent;
  context.fillRect(a, AXIS, 1, height);
  context.fillRect(b, AXIS, 1, height);
  const text = duration(Math.abs(range[1] - range[0]));
  const wide = context.measureText(text).width + 12;
  const left = Math.max(GUTTER, (a + b) / 2 - wide / 2);
  context.fillStyle = panel;
  context.fillRect(left, AXIS + 3, wide, 17);
  context.fillStyle = ink;
  context.textAlign = "left";
  context.fillText(text, left + 6, AXIS + 12);
}

// A rectangle that neighbours of the same colour are merged into: zoomed out, there are thousands of them.
class Brush {
  private left = 0;
  private right = 0;
  private fill = "";
  private alpha = 1;
  constructor(private context: CanvasRenderingContext2D, private y: number) {}

  add(left: number, wide: number, fill: string, alpha: number): void {
    if (fill === this.fill && alpha === this.alpha && left - this.right < 0.3) {
      this.right = left + wide;
      return;
    }
    this.flush();
    this.left = left;
    this.right = left + wide;
    this.fill = fill;
    this.alpha = alpha;
  }

  flush(): void {
    if (!this.fill) return;
    this.context.globalAlpha = this.alpha;
    this.context.fillStyle = this.fill;
    this.context.fillRect(this.left, this.y, this.right - this.left, ROW - 2);
    this.context.globalAlpha = 1;
    this.fill = "";
  }
}

const THIN = 3; // pixels: narrower spans have no gap and no name

function drawLane(context: CanvasRenderingContext2D, timeline: Timeline, laid: Layout["laid"][number], top: number, view: View, panel: string): void {
  const { track, levels } = laid;
  for (let level = 0; level < Math.min(levels, track.levels.length); level++) {
    const y = top + level * ROW;
    if (y < view.height && y + ROW > AXIS) drawLevel(context, timeline, track, level, y, view);
  }
  for (const [span, colour, width] of [[view.over, "--ink", 1], [view.selected, "--accent", 2]] as const) {
    if (span?.track.index === track.index && span.track.level[span.at] < levels) outline(context, span, top, view, themed(colour), width);
  }
  if (levels < track.lane.depth && !laid.folded) {
    context.fillStyle = panel;
    context.fillRect(GUTTER, top + laid.height - 2, view.width, 2);
  }
}

function drawLevel(context: CanvasRenderingContext2D, timeline: Timeline, track: Track, level: number, y: number, view: View): void {
  const { start, end, colours } = track, { at } = track.levels[level];
  const pixels = (view.width - GUTTER) / (view.to - view.from);
  const find = view.find.toLowerCase();
  const brush = new Brush(context, y);
  let drawn = -1e9;
  for (let k = firstSeen(track.levels[level], view.from); k < at.length && start[at[k]] <= view.to; k++) {
    const i = at[k];
    const left = Math.max(GUTTER, GUTTER + (start[i] - view.from) * pixels);
    const right = Math.min(view.width + 2, GUTTER + (end[i] - view.from) * pixels);
    if (right < drawn + 0.5) continue; // there is one on this pixel already
    drawn = Math.max(right, left + 0.5);
    const fill = (colours[i] ??= colourOf(track.lane.kind, timeline.names[track.name[i]] ?? "", placeOf(timeline, track, i)?.file, view.own));
    const many = track.count !== null && track.count[i] > 1;
    const alpha = !find || matches(timeline, track, i, find) ? (many ? 0.62 : 1) : 0.16;
    const wide = right - left;
    if (wide <= THIN) {
      brush.add(left, Math.max(0.8, wide), fill, alpha);
      continue;
    }
    brush.flush();
    brush.add(left, wide - 0.8, fill, alpha);
    brush.flush();
    if (wide > 35 && !many) drawName(context, nameOn(track, timeline.names[track.name[i]] ?? ""), fill, left, wide, y, alpha);
  }
  brush.flush();
}

const kernels = new Map<string, string>(); // as they are shown, because many spans have the same

function nameOn(track: Track, name: string): string {
  if (track.lane.kind !== "device") return name;
  let short = kernels.get(name);
  if (short === undefined) kernels.set(name, short = kernelName(name));
  return short;
}

const letters = new Map<string, number>(); // the width of each: measuring whole names takes too long for a frame

function widthOf(context: CanvasRenderingContext2D, letter: string): number {
  let wide = letters.get(letter);
  if (wide === undefined) letters.set(letter, wide = context.measureText(letter).width);
  return wide;
}

// As much of the text as fits.
function fitting(context: CanvasRenderingContext2D, text: string, wide: number): string {
  const dots = widthOf(context, "…");
  let used = 0, cut = 0; // where the text ends if dots follow
  for (let at = 0; at < text.length; at++) {
    used += widthOf(context, text[at]);
    if (used + dots <= wide) cut = at + 1;
    if (used > wide) return cut > 1 ? text.slice(0, cut) + "…" : "";
  }
  return text;
}

function drawName(context: CanvasRenderingContext2D, name: string, fill: string, left: number, wide: number, y: number, alpha: number): void {
  const text = fitting(context, visible(name), wide - 8);
  context.globalAlpha = alpha;
  context.fillStyle = inkOn(fill);
  context.textAlign = "left";
  context.fillText(text, left + 4, y + (ROW - 2) / 2 + 0.5);
  context.globalAlpha = 1;
}

function outline(context: CanvasRenderingContext2D, span: Span, top: number, view: View, colour: string, width: number): void {
  const { track, at } = span;
  const pixels = (view.width - GUTTER) / (view.to - view.from);
  const left = Math.max(GUTTER, GUTTER + (track.start[at] - view.from) * pixels);
  const right = Math.min(view.width + 2, GUTTER + (track.end[at] - view.from) * pixels);
  if (right < GUTTER || left > view.width) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(left, top + track.level[at] * ROW, Math.max(0.8, right - left), ROW - 2);
}

function placeOf(timeline: Timeline, track: Track, i: number): Location | undefined {
  return track.place && track.place[i] >= 0 ? timeline.places[track.place[i]] : undefined;
}

function matches(timeline: Timeline, track: Track, i: number, find: string): boolean {
  const place = placeOf(timeline, track, i);
  return (timeline.names[track.name[i]] ?? "").toLowerCase().includes(find)
    || (!!place && `${place.file}:${place.line}`.toLowerCase().includes(find));
}

// From the chosen span to what it launched, or to its twin in the backward pass.
export function flowsOf(timeline: Timeline, span: Span | null): [number, number, number, number][] {
  if (!span) return [];
  const start = span.track.start[span.at], end = span.track.end[span.at], lane = span.track.index;
  const inside = (at: number) => at >= start - 1 && at <= Math.max(end, start + 1);
  return timeline.flows.filter(([a, from, b, to]) => (a === lane && inside(from)) || (b === lane && inside(to)));
}

function drawFlows(context: CanvasRenderingContext2D, timeline: Timeline, layout: Layout, view: View, x: Scale, colour: string): void {
  const flows = flowsOf(timeline, view.selected).slice(0, 60);
  if (!flows.length) return;
  const top = (lane: number) => {
    const found = layout.laid.find((each) => each.track.index === lane);
    return found ? found.top - (found.pinned ? 0 : view.scroll) + ROW / 2 : 0;
  };
  context.strokeStyle = colour;
  context.lineWidth = 1.3;
  for (const [a, from, b, to] of flows) {
    const [x0, y0, x1, y1] = [x(from), top(a), x(to), top(b)];
    context.beginPath();
    context.moveTo(x0, y0);
    const bend = Math.max(24, Math.abs(x1 - x0) / 3);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1 - (a === b ? 30 : 0), x1, y1);
    context.stroke();
    context.beginPath();
    context.moveTo(x1 + 1, y1); context.lineTo(x1 - 7, y1 - 4); context.lineTo(x1 - 7, y1 + 4);
    context.fillStyle = colour;
    context.fill();
  }
}
