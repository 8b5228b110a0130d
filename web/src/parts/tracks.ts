// The timeline's lanes as arrays that can be searched and drawn quickly, and where each one is.
import type { Content, Counter, Lane, Timeline } from "../data";

// Findings and counters are lanes of the page's own.
export type AnyLane = Omit<Lane, "kind"> & { kind: Lane["kind"] | "finding" | "counter" };
export interface Track {
  lane: AnyLane; index: number; start: Float64Array; end: Float64Array; name: Int32Array; level: Int16Array;
  count: Int32Array | null; place: Int32Array | null; levels: Level[]; colours: (string | undefined)[]; counter: Counter | null;
}
// The spans of one level: indices by start, and the latest end up to each.
export interface Level { at: Int32Array; reach: Float64Array }
export interface Laid { track: Track; top: number; height: number; levels: number; heading: string | null; folded: boolean; pinned: boolean }
// Pinned lanes are at the top and do not scroll: they take `pinned` pixels.
export interface Layout { laid: Laid[]; height: number; pinned: number }
export interface Span { track: Track; at: number }

export const ROW = 17, GAP = 7, HEADING = 24, AXIS = 26, MOST_LEVELS = 14, COUNTER_ROWS = 2;

export function track(lane: AnyLane, index: number): Track {
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
    count: lane.count && Int32Array.from(lane.count), place: lane.place && Int32Array.from(lane.place), counter: null,
  };
}

const lane = (kind: AnyLane["kind"], process: number, title: string): AnyLane =>
  ({ process, thread: "", title, kind, depth: 1, spans: 0, start: [], lasted: [], name: [], level: [], count: null, place: null });

export function counterTracks(counters: Counter[], first: number): Track[] {
  return counters.map((counter, number) => ({ ...track(lane("counter", counter.process, counter.title), first + number), counter }));
}

// Where the lines of the findings were seen. Their names follow those of the timeline.
export function findingTrack(content: Content, timeline: Timeline, tracks: Track[], index: number): Track | null {
  const found: [number, number, number][] = [];
  (content.findings?.findings ?? []).forEach((finding, number) => {
    const at = timeline.places.findIndex((place) => place.file === finding.location?.file && place.line === finding.location.line);
    const inside = timeline.places.findIndex((place) => place.file === finding.location?.file && !!place.function && place.function === finding.location.function);
    const seen = [at, inside].filter((place) => place >= 0).map((place) => stretches(tracks, place)).find((each) => each.length);
    seen?.forEach(([from, to]) => found.push([from, to, timeline.names.length + number]));
  });
  if (!found.length) return null;
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const made = lane("finding", -1, "findings");
  const ends: number[] = []; // by level
  let before = 0;
  for (const [from, to, name] of found) {
    let level = ends.findIndex((end) => end <= from);
    if (level < 0) level = ends.length;
    ends[level] = to;
    made.start.push(from - before);
    made.lasted.push(to - from);
    made.name.push(name);
    made.level.push(level);
    before = from;
  }
  made.spans = found.length;
  made.depth = ends.length;
  return track(made, index);
}

const MOST_STRETCHES = 2000;

// The spans at a place, those that touch as one.
function stretches(tracks: Track[], place: number): [number, number][] {
  const all: [number, number][] = [];
  for (const each of tracks) {
    for (let i = 0; each.place && i < each.start.length; i++) if (each.place[i] === place) all.push([each.start[i], each.end[i]]);
  }
  all.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of all) {
    const last = merged[merged.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to); else merged.push([from, to]);
  }
  return merged.slice(0, MOST_STRETCHES);
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

export interface Folds { folded: Set<number>; unfolded: Set<number>; pinned: Set<number> }

export function laidOut(tracks: Track[], timeline: Timeline, { folded, unfolded, pinned }: Folds): Layout {
  const laid: Laid[] = [];
  let top = AXIS + 3, process = -1;
  const put = (each: Track, heading: string | null, isPinned: boolean) => {
    if (heading !== null) top += HEADING;
    const closed = folded.has(each.index);
    const levels = closed ? 1 : each.counter ? COUNTER_ROWS : unfolded.has(each.index) ? each.lane.depth : Math.min(each.lane.depth, MOST_LEVELS);
    laid.push({ track: each, top, height: levels * ROW, levels, heading, folded: closed, pinned: isPinned });
    top += levels * ROW + GAP;
  };
  tracks.filter((each) => pinned.has(each.index)).forEach((each) => put(each, null, true));
  const taken = pinned.size ? top - AXIS : 0;
  for (const each of tracks) {
    if (pinned.has(each.index)) continue;
    const isNew = each.lane.process !== process && each.lane.process >= 0;
    process = each.lane.process;
    put(each, isNew ? timeline.processes[each.lane.process] : null, false);
  }
  return { laid, height: top + 8, pinned: taken };
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

// "MainThread: phases"; findings and windows are of no thread.
export const laneName = (each: AnyLane) => [each.thread, each.title].filter(Boolean).join(": ");

export interface Sum { name: number; kind: string; lanes: string[]; ns: number; count: number }

// What is between two moments, by kind and name; recursion counts once in each lane.
export function sums(tracks: Track[], from: number, to: number): Sum[] {
  const found = new Map<string, Sum>();
  for (const each of tracks) {
    const covered = new Map<number, number>();
    for (let i = 0; i < each.start.length && each.start[i] <= to; i++) {
      const a = Math.max(from, each.start[i]), b = Math.min(to, each.end[i]);
      if (b <= a) continue;
      const name = each.name[i];
      const fresh = b - Math.max(a, covered.get(name) ?? -Infinity);
      if (fresh > 0) covered.set(name, b);
      const key = `${each.lane.kind} ${name}`;
      const sum = found.get(key) ?? { name, kind: each.lane.kind, lanes: [], ns: 0, count: 0 };
      const lane_ = laneName(each.lane);
      if (!sum.lanes.includes(lane_)) sum.lanes.push(lane_);
      sum.ns += Math.max(0, fresh);
      sum.count += each.count?.[i] ?? 1;
      found.set(key, sum);
    }
  }
  return [...found.values()].sort((a, b) => b.ns - a.ns);
}

// The span of a lane that begins at a moment, on that level or the innermost: what was chosen, or an arrow leads to.
export function spanFrom(tracks: Track[], index: number, at: number, level?: number): Span | null {
  const each = tracks.find((one) => one.index === index);
  if (!each) return null;
  let best = -1;
  for (let i = 0; i < each.start.length; i++) {
    if (Math.abs(each.start[i] - at) > 1 || (level !== undefined && each.level[i] !== level)) continue;
    if (best < 0 || each.level[i] > each.level[best]) best = i;
  }
  return best < 0 ? null : { track: each, at: best };
}

// Ticks that are readable at any zoom: 12.345 s, not 12345 ms.
export function tickText(at: number, step: number): string {
  const [unit, factor] = at >= 1e9 || step >= 1e9 ? ["s", 1e9] : at >= 1e6 || step >= 1e6 ? ["ms", 1e6] : ["µs", 1e3];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / (factor as number)) - 1e-9)));
  return `${(at / (factor as number)).toFixed(decimals)} ${unit}`;
}
