// The page's data: what Python hands over, and types that only the page has.
import type { ActionRow, RegionRow } from "./model/answers";
import type { Content, FileLines, ShownFunction } from "./model/content";

export type * from "./model/answers";
export type * from "./model/content";
export type * from "./model/device";

// line, hits, ns, ops_ns, device_ns, alloc_bytes, estimated, likely_hits
export type LineRow = FileLines["rows"][number];
// function, file, line, library
export type Called = Content["called"][number];
// index in the content's `called`, ncalls, own, with callees
export type Caller = ShownFunction["callers"][number];
// A region, or an action, which has fewer fields.
export type NamedRow = Pick<RegionRow, keyof ActionRow> & Partial<RegionRow>;

export type Embedded = { mode: "file"; content: Content } | { mode: "server" };

export function embedded(): Embedded {
  return JSON.parse(document.getElementById("data")!.textContent!) as Embedded;
}
