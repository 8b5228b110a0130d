// The page's data: what Python hands over, and types that only the page has.
import type { ActionRow, Content as PythonContent, FileLines, ShownFunction, Location, RegionRow } from "./model";

export type * from "./model";

// line, hits, ns, ops_ns, device_ns, alloc_bytes, estimated
export type LineRow = FileLines["rows"][number];
// function, file, line, library
export type Called = PythonContent["called"][number];
// index in the content's `called`, ncalls, own, with callees
export type Caller = ShownFunction["callers"][number];
// A region, or an action, which has fewer fields.
export type NamedRow = Pick<RegionRow, keyof ActionRow> & Partial<RegionRow>;

export interface Comparison {
  speedup: number | null; low: number | null; high: number | null; basis: string; significant: boolean;
  verdict: string;
  changes: { what: string; name: string; before_ns: number; after_ns: number; location: Location | null }[];
}

export interface Content extends PythonContent { compare?: Comparison | null }

export type Embedded = { mode: "file"; content: Content } | { mode: "server" };

export function embedded(): Embedded {
  return JSON.parse(document.getElementById("data")!.textContent!) as Embedded;
}
