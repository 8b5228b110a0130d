// The timeline's lanes as arrays that can be searched and drawn quickly, and where each one is.
import type { Lane, Timeline } from "../data";

export interface Track {
  lane: Lane; index: number; start: Float64Array; end: Float64Array; name: Int32Array; level: Int16Array;
  count: Int32Array | null; place: Int32Array | null; levels: Level[]; colours: (string | undefined)[];
}
// The spans of one level: indices by start, and the latest end up to each.
export interface Level { at: Int32Array; reach: Float64Array }
export interface Laid { track: Track; top: number; height: number; levels: number; heading: string | null; folded: boolean }
export interface Layout { laid: Laid[]; height: number }
export interface Span { track: Track; at: number }

export const ROW = 17, GAP = 7, HEADING = 24, AXIS = 26, MOST_LEVELS = 14;

export function track(lane: Lane, index: number): Track {
  const size = lane.start.length;
  const start = new Float64Array(size), end = new Float64Array(size);
  let at = 0;
  for (let i = 0; i < size; i++) {
    at += lane.start[i];
    start[i] = at;
    end[i] = at + lane.lasted[i];
  }
  const level = Int16Array.from(lane.level);
  return {
    lane, index, start, end, level, name: Int32Array.from(lane.name), levels: byLevel(level, end), colours: new Array(size),
    count: lane.count && Int32Array.from(lane.count), place: lane.place && Int32Array.from(lane.place),
  };
}

function byLevel(level: Int16Array, end: Float64Array): Level[] {
  const sizes: number[] = [];
  for (const each of level) sizes[each] = (sizes[each] ?? 0) + 1;
  const found = Array.from(sizes, (size = 0) => ({ at: new Int32Array(size), reach: new Float64Array(size) }));
  const filled = new Int32Array(found.length);
  for (let i = 0; i < level.length; i++) {
    const { at, reach } = found[level[i]];
    const k = filled[level[i]]++;
    at[k] = i;
    reach[k] = k ? Math.max(reach[k - 1], end[i]) : end[i];
  }
  return found;
}

// The first span of a level that ends at or after a moment.
export function firstSeen(level: Level, from: number): number {
  let low = 0, high = level.reach.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (level.reach[middle] < from) low = middle + 1; else high = middle;
  }
  return low;
}

export function laidOut(tracks: Track[], timeline: Timeline, folded: Set<number>, unfolded: Set<number>): Layout {
  const laid: Laid[] = [];
  let top = AXIS, process = -1;
  for (const each of tracks) {
    const heading = each.lane.process !== process ? timeline.processes[each.lane.process] : null;
    process = each.lane.process;
    if (heading !== null) top += HEADING;
    const closed = folded.has(each.index);
    const levels = closed ? 1 : unfolded.has(each.index) ? each.lane.depth : Math.min(each.lane.depth, MOST_LEVELS);
    const height = levels * ROW;
    laid.push({ track: each, top, height, levels, heading, folded: closed });
    top += height + GAP;
  }
  return { laid, height: top + 8 };
}

// The innermost span of a lane and level at a moment; `slack` is how far off the pointer may be.
export function spanAt(each: Track, level: number, at: number, slack: number): number {
  const found = each.levels[level];
  let best = -1;
  if (!found) return best;
  for (let k = firstSeen(found, at - slack); k < found.at.length && each.start[found.at[k]] <= at + slack; k++) {
    if (each.end[found.at[k]] >= at - slack) best = found.at[k];
  }
  return best;
}

export interface Sum { name: number; kind: string; lane: string; ns: number; count: number }

// What is between two moments, by lane and name; at the outermost level that has the name.
export function sums(tracks: Track[], from: number, to: number): Sum[] {
  const found = new Map<string, Sum>();
  for (const each of tracks) {
    const covered = new Map<number, number>();
    for (let i = 0; i < each.start.length && each.start[i] <= to; i++) {
      const a = Math.max(from, each.start[i]), b = Math.min(to, each.end[i]);
      if (b <= a) continue;
      const name = each.name[i];
      const until = covered.get(name) ?? -Infinity; // recursion counts once
      const fresh = b - Math.max(a, until);
      if (fresh > 0) covered.set(name, b);
      const key = `${each.index} ${name}`;
      const sum = found.get(key) ?? { name, kind: each.lane.kind, lane: `${each.lane.thread}: ${each.lane.title}`, ns: 0, count: 0 };
      sum.ns += Math.max(0, fresh);
      sum.count += each.count?.[i] ?? 1;
      found.set(key, sum);
    }
  }
  return [...found.values()].sort((a, b) => b.ns - a.ns);
}

// Ticks that are readable at any zoom: 12.345 s, not 12345 ms.
export function tickText(at: number, step: number): string {
  const [unit, factor] = at >= 1e9 || step >= 1e9 ? ["s", 1e9] : at >= 1e6 || step >= 1e6 ? ["ms", 1e6] : ["µs", 1e3];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / (factor as number)) - 1e-9)));
  return `${(at / (factor as number)).toFixed(decimals)} ${unit}`;
}
