// The call tree, built from columns.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import type { Called, Content, Lane, Tree } from "../data";

export interface Branch {
  tree: Tree; name: string; file: string; line: number; library: string | null;
  total: number; own: number; calls: number | null; children: Branch[]; path: Branch[];
  x0: number; x1: number; depth: number;
}

export function planted(tree: Tree, called: Called[]): Branch {
  const root: Branch = {
    tree, name: tree.thread, file: "", line: 0, library: "", total: tree.total_ns, own: 0, calls: null,
    children: [], path: [], x0: 0, x1: 1, depth: 0,
  };
  root.path = [root];
  const stack = [root];
  tree.depth.forEach((depth, index) => {
    stack.length = depth + 1;
    const parent = stack[depth];
    const [name, file, line, library] = called[tree.function[index]];
    const branch: Branch = {
      tree, name, file, line, library, total: tree.total[index], own: tree.own[index],
      calls: tree.calls?.[index] ?? null, children: [], path: [], x0: 0, x1: 0, depth: depth + 1,
    };
    branch.path = [...parent.path, branch];
    parent.children.push(branch);
    stack.push(branch);
  });
  placed(root);
  return root;
}

// The part of a caller's width without callees is its own time: so values are given, not summed.
function placed(root: Branch): void {
  const nodes = hierarchy(root, (branch) => branch.children);
  nodes.each((node) => { (node as { value?: number }).value = node.data.total; });
  partition<Branch>().size([1, 1])(nodes);
  nodes.each((node) => {
    const { x0, x1 } = node as HierarchyRectangularNode<Branch>;
    node.data.x0 = x0;
    node.data.x1 = x1;
  });
}

// A module's top level is named after its file: every import has many of them.
export function label(branch: Branch): string {
  if (branch.name !== "<module>") return branch.name;
  const parts = branch.file.split("/");
  return `<module> ${parts[parts.length - 1] === "__init__.py" ? parts[parts.length - 2] ?? "" : parts[parts.length - 1]}`;
}

export interface GraphProps {
  root: Branch; focus: Branch; find: string; depth: number; onFocus: (branch: Branch | null) => void;
}

// Names only: a folder's name would match everything in it.
export function matches(branch: Branch, find: string): boolean {
  return !find || branch.name.toLowerCase().includes(find.toLowerCase());
}

// The samples of the tree's thread over time, if the timeline has them; of a trace, its calls.
export function laneOf(content: Content, tree: Tree): Lane | null {
  if (content.facts.is_trace) return content.timeline?.lanes.find((each) => each.kind === "stack" && each.thread === tree.thread) ?? null;
  if (tree.source !== "samples" || tree.threads > 1) return null;
  const { role, rank } = tree.process;
  const process = role === "worker" ? (rank === null ? "worker" : `worker of rank ${rank}`) : role === "rank" ? `rank ${rank}` : role;
  return content.timeline?.lanes.find((each) => each.kind === "stack" && each.thread === tree.thread
    && content.timeline!.processes[each.process].split(" · ")[0] === process) ?? null;
}

// Of each file. The table of functions does not know libraries: what the trees say counts.
function librariesOf(content: Content): Map<string, string | null> {
  const found = new Map<string, string | null>();
  for (const [, file, , library] of content.called) found.set(file, found.get(file) ?? library);
  return found;
}

// The calls of a thread as they happened: each as wide as it lasted, where it was in time.
export function ordered(tree: Tree, content: Content, lane: Lane): Branch {
  const { names, places } = content.timeline!;
  const libraries = librariesOf(content);
  let at = 0, last = 0;
  const starts = lane.start.map((each) => (at += each));
  starts.forEach((each, index) => { last = Math.max(last, each + lane.lasted[index]); });
  const from = starts[0] ?? 0, wide = last - from || 1;
  const root: Branch = {
    tree, name: tree.thread, file: "", line: 0, library: "", total: wide, own: 0, calls: null, children: [], path: [], x0: 0, x1: 1, depth: 0,
  };
  root.path = [root];
  const above: Branch[] = []; // the last one of each level
  // Callers before what they call: spans that begin together are in no order of level.
  const order = starts.map((_, index) => index).sort((a, b) => starts[a] - starts[b] || lane.level[a] - lane.level[b]);
  for (const index of order) {
    const start = starts[index], level = lane.level[index];
    above.length = Math.min(above.length, level);
    const parent = above[level - 1] ?? root;
    const place = lane.place && lane.place[index] >= 0 ? places[lane.place[index]] : null;
    const total = lane.lasted[index];
    const branch: Branch = {
      tree, name: place?.function ?? names[lane.name[index]], file: place?.file ?? "native", line: place?.line ?? 0,
      library: place ? libraries.get(place.file) ?? "" : "native", total, own: total, calls: null, children: [], path: [],
      x0: (start - from) / wide, x1: (start + total - from) / wide, depth: level + 1,
    };
    if (libraries.get(branch.file) === null) branch.library = null;
    branch.path = [...parent.path, branch];
    parent.own = Math.max(0, parent.own - total);
    parent.children.push(branch);
    above[level] = branch;
  }
  return root;
}

const sameFunction = (a: Branch, b: Branch) => a.name === b.name && a.file === b.file && a.line === b.line;

function grown(tree: Tree, like: Branch, parent: Branch | null): Branch {
  const branch = { ...like, tree, total: 0, own: 0, calls: null, children: [], path: [] as Branch[], depth: parent ? parent.depth + 1 : 0 };
  branch.path = [...(parent?.path ?? []), branch];
  parent?.children.push(branch);
  return branch;
}

// All places of one function together: what it called, and (inverted) who called it.
export function sandwiched(root: Branch, of: Branch): { callers: Branch; callees: Branch } {
  const callers = grown(root.tree, of, null), callees = grown(root.tree, of, null);
  const child = (parent: Branch, like: Branch) => parent.children.find((each) => sameFunction(each, like)) ?? grown(root.tree, like, parent);
  const below = (from: Branch, into: Branch) => {
    into.total += from.total;
    into.own += from.own;
    from.children.forEach((each) => below(each, child(into, each)));
  };
  const visit = (branch: Branch) => {
    if (!sameFunction(branch, of)) { branch.children.forEach(visit); return; }
    below(branch, callees); // recursion is inside of it
    let at = callers;
    at.total += branch.total;
    for (const each of [...branch.path].reverse().slice(1)) { at = child(at, each); at.total += branch.total; }
  };
  visit(root);
  for (const each of [callers, callees]) { longestFirst(each); placed(each); }
  return { callers, callees };
}

function longestFirst(branch: Branch): void {
  branch.children.sort((a, b) => b.total - a.total);
  branch.children.forEach(longestFirst);
}

// The branch that an arrow key moves to.
export function neighbour(focus: Branch, key: string, upwards: boolean): Branch | null {
  const parent = focus.path[focus.path.length - 2];
  if (key === "Escape") return focus.path[0];
  if (key === (upwards ? "ArrowDown" : "ArrowUp")) return parent ?? null;
  if (key === (upwards ? "ArrowUp" : "ArrowDown")) return focus.children[0] ?? null;
  if (!parent || (key !== "ArrowLeft" && key !== "ArrowRight")) return null;
  const at = parent.children.indexOf(focus);
  return parent.children[at + (key === "ArrowLeft" ? -1 : 1)] ?? null;
}
