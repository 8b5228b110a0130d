// The call tree, built from columns.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import type { Called, Tree } from "../data";

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

export function matches(branch: Branch, find: string): boolean {
  const words = find.toLowerCase();
  return !words || branch.name.toLowerCase().includes(words) || branch.file.toLowerCase().includes(words);
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
