// The same tree in rings, with callers inside their callees.
import { arc } from "d3-shape";
import { useState } from "preact/hooks";
import { inkOn, library } from "../colours";
import { duration } from "../format";
import { BranchTip } from "./icicle";
import { label, matches, neighbour, type Branch, type GraphProps } from "./branches";
import { visible } from "./links";
import { useWidth } from "./measure";
import { Tip, type Pointed } from "./tip";

const HUB = 48, MOST_RINGS = 10; // more would be unreadable

export function Sunburst(props: GraphProps) {
  const { focus, find } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const side = Math.max(200, Math.min(width, 680));
  const shown: Branch[] = [];
  let rings = 1;
  const turn = (2 * Math.PI) / (focus.x1 - focus.x0 || 1);
  const visit = (branch: Branch) => {
    const depth = branch.depth - focus.depth;
    if ((branch.x1 - branch.x0) * turn < 0.006 || depth > Math.min(props.depth, MOST_RINGS)) return;
    if (depth > 0) shown.push(branch);
    rings = Math.max(rings, depth);
    branch.children.forEach(visit);
  };
  visit(focus);
  const ring = (side / 2 - HUB) / rings;
  const radius = (branch: Branch) => HUB + (branch.depth - focus.depth - 1) * ring;
  const shape = arc<Branch>()
    .startAngle((branch) => (branch.x0 - focus.x0) * turn).endAngle((branch) => (branch.x1 - focus.x0) * turn)
    .innerRadius(radius).outerRadius((branch) => radius(branch) + ring - 1)
    .padAngle(0.002).padRadius(side / 3);
  const parent = focus.path[focus.path.length - 2] ?? null;
  return (
    <div ref={box} class="graph rings" tabIndex={0} onKeyDown={(event) => {
      const next = neighbour(focus, event.key, true);
      if (next) { event.preventDefault(); props.onFocus(next); }
    }}>
      <svg width={side} height={side} viewBox={`${-side / 2} ${-side / 2} ${side} ${side}`} role="img" aria-label="Functions by time, in rings">
        {shown.map((branch, index) => {
          const fill = library(branch.library);
          const angle = ((branch.x0 + branch.x1) / 2 - focus.x0) * turn;
          const middle = radius(branch) + ring / 2;
          const long = Math.min((branch.x1 - branch.x0) * turn, 1.2) * middle; // text is straight, and rings are not
          const letters = Math.floor((Math.min(long, 170) - 12) / 6.8);
          const below = angle > Math.PI / 2 && angle < (3 * Math.PI) / 2;
          const name = visible(label(branch));
          return (
            <g key={index} class="branch" opacity={matches(branch, find) ? 1 : 0.25} onClick={() => props.onFocus(branch)}
              onMouseMove={(event) => setPointed({ x: event.clientX, y: event.clientY, tip: <BranchTip branch={branch} /> })}
              onMouseLeave={() => setPointed(null)}>
              <path d={shape(branch) ?? ""} fill={fill} />
              {ring > 14 && letters > 3 && (
                <text fill={inkOn(fill)} text-anchor="middle" dominant-baseline="middle"
                  transform={`rotate(${(angle * 180) / Math.PI}) translate(0,${-middle}) rotate(${below ? 180 : 0})`}>
                  {name.length > letters ? name.slice(0, letters - 1) + "…" : name}
                </text>
              )}
            </g>
          );
        })}
        <g class="branch" onClick={() => props.onFocus(parent)}>
          <circle r={HUB - 1} class="hub" />
          <text text-anchor="middle" class="hub-name" y={-4}>{visible(focus.name).slice(0, 12)}</text>
          <text text-anchor="middle" class="hub-value" y={13}>{duration(focus.total)}</text>
        </g>
      </svg>
      <Tip at={pointed} />
    </div>
  );
}
