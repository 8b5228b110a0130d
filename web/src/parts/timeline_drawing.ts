// Draws the visible part of the timeline on its canvas.
import { scaleLinear } from "d3-scale";
import { byName, inkOn, library, phase, themed } from "../colours";
import type { Location, Timeline } from "../data";
import { visible } from "./links";
import { AXIS, HEADING, ROW, firstSeen, tickText, type Layout, type Span, type Track } from "./tracks";

export const GUTTER = 190;

export interface View {
  from: number; to: number; width: number; height: number; scroll: number; find: string;
  selected: Span | null; over: Span | null; range: [number, number] | null; own: Set<string>;
}

export function colourOf(kind: string, name: string, file: string | undefined, own: Set<string>): string {
  if (kind === "phase") return phase(name);
  if (kind === "step") return "#8aa2b8";
  if (kind === "stack") return library(file !== undefined && own.has(file) ? null : file ?? "native");
  if (kind === "file") return phase("files");
  if (kind === "window") return "#c3c9ce";
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
  context.save();
  context.beginPath();
  context.rect(0, AXIS, width, height - AXIS);
  context.clip();
  for (const each of layout.laid) {
    const top = each.top - view.scroll;
    if (each.heading !== null && top > 0 && top - HEADING < height) {
      context.fillStyle = themed("--sunken");
      context.fillRect(0, top - HEADING, width, HEADING - 5);
      context.fillStyle = ink;
      context.font = "600 12px system-ui, sans-serif";
      context.textAlign = "left";
      context.fillText(visible(each.heading), 10, top - HEADING / 2 - 2);
      context.font = "11.5px system-ui, sans-serif";
    }
    if (top > height || top + each.height < AXIS) continue;
    drawLane(context, timeline, each, top, view, panel);
  }
  drawFlows(context, timeline, layout, view, x, accent);
  for (const each of layout.laid) {
    const top = each.top - view.scroll;
    if (top > height || top + each.height < AXIS) continue;
    context.fillStyle = panel;
    context.fillRect(0, top, GUTTER - 4, each.height);
    context.fillStyle = faint;
    context.textAlign = "left";
    const { title, thread } = each.track.lane;
    const beside = each.height < 2 * ROW && thread && thread !== "MainThread" ? ` · ${thread}` : "";
    context.fillText(visible(`${each.folded ? "▸" : "▾"} ${title}${beside}`).slice(0, 30), 10, top + ROW / 2);
    if (each.height >= 2 * ROW) context.fillText(visible(thread).slice(0, 26), 20, top + ROW * 1.5);
  }
  if (view.range) {
    const [a, b] = [x(Math.min(...view.range)), x(Math.max(...view.range))];
    context.fillStyle = accent + "26";
    context.fillRect(Math.max(GUTTER, a), AXIS, b - Math.max(GUTTER, a), height);
  }
  context.restore();
  context.fillStyle = panel;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = line;
  context.fillRect(0, AXIS - 1, width, 1);
  context.fillStyle = faint;
  context.textAlign = "left";
  for (const tick of ticks) if (x(tick) >= GUTTER) context.fillText(tickText(tick, step), x(tick) + 4, AXIS / 2);
}

type Scale = (value: number) => number;

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
    if (wide > 35 && !many) drawName(context, timeline.names[track.name[i]] ?? "", fill, left, wide, y, alpha);
  }
  brush.flush();
}

function drawName(context: CanvasRenderingContext2D, name: string, fill: string, left: number, wide: number, y: number, alpha: number): void {
  const letters = Math.floor((wide - 9) / 6.6);
  const text = visible(name);
  context.globalAlpha = alpha;
  context.fillStyle = inkOn(fill);
  context.textAlign = "left";
  context.fillText(text.length > letters ? text.slice(0, letters - 1) + "…" : text, left + 4, y + (ROW - 2) / 2 + 0.5);
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
    return found ? found.top - view.scroll + ROW / 2 : 0;
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
    context.arc(x1, y1, 3, 0, 7);
    context.fillStyle = colour;
    context.fill();
  }
}
