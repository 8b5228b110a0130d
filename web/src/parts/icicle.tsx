// Callers above their callees (or below: a flame graph), as wide as their time.
import { useState } from "preact/hooks";
import { inkOn, library } from "../colours";
import { counted, duration, percent } from "../format";
import { label, matches, neighbour, type Branch, type GraphProps } from "./branches";
import { visible } from "./links";
import { useWidth } from "./measure";
import { Tip, type Pointed } from "./tip";

const ROW = 21;

export function BranchTip({ branch }: { branch: Branch }) {
  const whole = branch.tree.total_ns || 1;
  return (
    <div>
      <b>{visible(label(branch))}</b>
      {branch.file && <div class="faint">{visible(branch.file)}:{branch.line}</div>}
      <div>{duration(branch.total)} with callees, {percent(branch.total / whole)}</div>
      {branch.file && <div>{duration(branch.own)} of its own, {percent(branch.own / whole)}</div>}
      {branch.calls !== null && <div>{counted(branch.calls, "call")}</div>}
    </div>
  );
}

export function Icicle(props: GraphProps & { upwards: boolean }) {
  const { root, focus, find } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const scale = width / (focus.x1 - focus.x0 || 1);
  const shown: Branch[] = [];
  let deepest = 0;
  const visit = (branch: Branch) => {
    const wide = (Math.min(branch.x1, focus.x1) - Math.max(branch.x0, focus.x0)) * scale;
    if (wide < 1 || branch.depth - focus.depth > props.depth) return;
    shown.push(branch);
    deepest = Math.max(deepest, branch.depth);
    branch.children.forEach(visit);
  };
  if (width) visit(root);
  const height = (deepest + 1) * ROW;
  const top = (branch: Branch) => (props.upwards ? height - (branch.depth + 1) * ROW : branch.depth * ROW);
  return (
    <div ref={box} class="graph" tabIndex={0} onKeyDown={(event) => {
      const next = neighbour(focus, event.key, props.upwards);
      if (next) { event.preventDefault(); props.onFocus(next); }
    }}>
      <svg width={width} height={Math.max(height, ROW)} role="img" aria-label="Functions by time, callers around what they call">
        {shown.map((branch, index) => {
          const x = Math.max(0, (branch.x0 - focus.x0) * scale);
          const wide = Math.min(width, (branch.x1 - focus.x0) * scale) - x;
          const fill = branch.file === "" ? "#9aa3ab" : library(branch.library); // a thread is no function
          const dim = !matches(branch, find);
          const letters = Math.floor((wide - 9) / 7.2);
          const name = visible(label(branch));
          return (
            <g key={index} class="branch" transform={`translate(${x},${top(branch)})`} opacity={dim ? 0.25 : branch.depth < focus.depth ? 0.6 : 1}
              onClick={() => props.onFocus(branch)}
              onMouseMove={(event) => setPointed({ x: event.clientX, y: event.clientY, tip: <BranchTip branch={branch} /> })}
              onMouseLeave={() => setPointed(null)}>
              <rect width={Math.max(0.5, wide - 0.7)} height={ROW - 1} rx={2} fill={fill} />
              {letters > 2 && <text x={5} y={ROW - 7} fill={inkOn(fill)}>{name.length > letters ? name.slice(0, letters - 1) + "…" : name}</text>}
            </g>
          );
        })}
      </svg>
      <Tip at={pointed} />
    </div>
  );
}
