// One function, wherever it was called: its callers above it, what it called below.
import { useMemo } from "preact/hooks";
import { duration, percent } from "../format";
import { sandwiched, type Branch, type GraphProps } from "./branches";
import { Icicle } from "./icicle";
import { Name } from "./links";

// Where the most time is spent in itself: a good one to begin with.
function heaviest(root: Branch): Branch {
  const own = new Map<string, [Branch, number]>();
  const visit = (branch: Branch) => {
    const key = `${branch.name}|${branch.file}|${branch.line}`;
    own.set(key, [branch, (own.get(key)?.[1] ?? 0) + branch.own]);
    branch.children.forEach(visit);
  };
  root.children.forEach(visit);
  return [...own.values()].sort((a, b) => b[1] - a[1])[0]?.[0] ?? root;
}

export function Sandwich(props: GraphProps) {
  const { root, focus } = props;
  const chosen = useMemo(() => (focus.depth ? focus : heaviest(root)), [root, focus]);
  const { callers, callees } = useMemo(() => sandwiched(root, chosen), [root, chosen]);
  // A branch of either half stands for the first one like it in the tree.
  const onFocus = (branch: Branch | null) => {
    const like = branch && branch.depth && firstLike(root, branch);
    props.onFocus(like || null);
  };
  return (
    <div class="sandwich">
      <Icicle {...props} root={callers} focus={callers} onFocus={onFocus} upwards />
      <p class="middle"><Name text={chosen.name} /> <span class="faint">{duration(callees.total)}, {percent(callees.total / (root.total || 1))}; {duration(callees.own)} of its own</span></p>
      <Icicle {...props} root={callees} focus={callees} onFocus={onFocus} upwards={false} />
    </div>
  );
}

function firstLike(root: Branch, like: Branch): Branch | null {
  if (root.name === like.name && root.file === like.file && root.line === like.line) return root;
  for (const each of root.children) {
    const found = firstLike(each, like);
    if (found) return found;
  }
  return null;
}
