// One bar per step, stacked by phase: hover explains, a click opens, dragging zooms.
import { scaleLinear } from "d3-scale";
import { useMemo, useRef, useState } from "preact/hooks";
import { phase, themed } from "../colours";
import type { StepColumns } from "../data";
import { duration, percent } from "../format";
import { useTheme } from "../theme";
import { Swatch } from "./bars";
import { hatch, prepared, useDrawing, useWidth } from "./measure";
import { Tip, type Pointed } from "./tip";

const LEFT = 64, TOP = 10;
export const ESTIMATED = new Set(["profiler"]); // computed from a model of our own cost, not measured

// The largest phases at the bottom, where they can be compared.
export function phaseOrder(steps: StepColumns): string[] {
  const total = (values: number[]) => values.reduce((sum, each) => sum + each, 0);
  return Object.entries(steps.phases).map(([name, values]) => [name, total(values)] as const)
    .filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

// Steps that are not counted, such as a first one that compiles, must not flatten the others.
function tallest(steps: StepColumns, from: number, to: number): { top: number; cut: boolean } {
  const shown = steps.duration_ns.slice(from, to);
  const counts = shown.filter((_, index) => steps.measured[from + index]);
  const usual = (counts.length ? counts : [...shown]).sort((a, b) => a - b);
  const most = shown.reduce((a, b) => Math.max(a, b), 1);
  const high = usual[Math.floor(usual.length * 0.95)] ?? most;
  return most > 3.5 * high ? { top: 2.5 * high, cut: true } : { top: most, cut: false };
}

interface Props {
  steps: StepColumns;
  height: number;
  chosen?: number | null;
  range?: [number, number];
  onChoose?: (index: number) => void;
  onRange?: (range: [number, number]) => void;
  usual?: { median: number; p10: number; p90: number } | null;
  shown?: [number, number]; // for a strip without axes: the visible part
}

export function StepBars(props: Props) {
  const { steps, height } = props;
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, theme] = useTheme();
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const order = useMemo(() => phaseOrder(steps), [steps]);
  const outliers = useMemo(() => new Set(steps.outliers), [steps]);
  const [from, to] = props.range ?? [0, steps.number.length];
  const { top, cut } = useMemo(() => tallest(steps, from, to), [steps, from, to]);
  const BOTTOM = props.shown ? 4 : 22;
  const inner = Math.max(10, width - LEFT - 8);
  const x = scaleLinear([from, to], [LEFT, LEFT + inner]);
  const y = scaleLinear([0, top * 1.06], [height - BOTTOM, TOP]);

  useDrawing(() => {
    if (!canvas.current || width < 50) return;
    const context = prepared(canvas.current, width, height);
    const ink = themed("--faint"), line = themed("--line"), accent = themed("--accent"), paper = themed("--panel");
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of props.shown ? [] : y.ticks(4)) {
      context.fillStyle = line;
      context.fillRect(LEFT, Math.round(y(tick)), inner, 1);
      context.fillStyle = ink;
      context.fillText(tick ? duration(tick) : "0", LEFT - 8, y(tick));
    }
    const each = inner / (to - from);
    const gap = each > 5 ? 1 : 0;
    const lines = hatch(context, paper, "estimated"), crossed = hatch(context, paper, "left out");
    for (let index = Math.max(0, Math.floor(from)); index < Math.min(to, steps.number.length); index++) {
      const at = x(index), wide = Math.max(0.75, each - gap);
      let below = y(0);
      context.globalAlpha = steps.measured[index] ? 1 : 0.5;
      for (const name of order) {
        const tall = y(0) - y(steps.phases[name][index]);
        if (tall <= 0) continue;
        const upper = Math.max(TOP, below - tall);
        context.fillStyle = phase(name);
        context.fillRect(at, upper, wide, below - upper);
        if (ESTIMATED.has(name)) { context.fillStyle = lines; context.fillRect(at, upper, wide, below - upper); }
        below = upper;
        if (below <= TOP) break;
      }
      const over_ = !steps.measured[index] ? crossed : steps.estimated[index] ? lines : null;
      if (over_) { context.fillStyle = over_; context.fillRect(at, below, wide, y(0) - below); }
      context.globalAlpha = 1;
      if (cut && steps.duration_ns[index] > top * 1.06) {
        context.fillStyle = ink;
        context.beginPath();
        context.moveTo(at + wide / 2, 1); context.lineTo(at + wide / 2 - 4, 8); context.lineTo(at + wide / 2 + 4, 8);
        context.fill();
      } else if (outliers.has(index)) {
        context.fillStyle = themed("--warn");
        context.beginPath();
        context.arc(at + wide / 2, Math.max(5, below - 5), 2.5, 0, 7);
        context.fill();
      }
      if (index === props.chosen || index === over) {
        context.strokeStyle = index === props.chosen ? accent : ink;
        context.lineWidth = index === props.chosen ? 2 : 1;
        context.strokeRect(at - 0.5, Math.max(TOP, below) - 0.5, wide + 1, y(0) - Math.max(TOP, below) + 1);
      }
    }
    if (props.usual) {
      context.strokeStyle = themed("--ink");
      context.setLineDash([4, 4]);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(LEFT, y(props.usual.median * 1e6)); context.lineTo(LEFT + inner, y(props.usual.median * 1e6));
      context.stroke();
      context.setLineDash([]);
    }
    context.fillStyle = ink;
    context.textAlign = "center";
    for (const tick of props.shown ? [] : x.ticks(Math.min(12, Math.max(2, inner / 90))).filter(Number.isInteger)) {
      if (tick < steps.number.length) context.fillText(String(steps.number[tick]), x(tick) + each / 2, height - BOTTOM / 2);
    }
    if (props.shown) {
      context.fillStyle = paper + "bb";
      context.fillRect(LEFT, 0, x(props.shown[0]) - LEFT, height);
      context.fillRect(x(props.shown[1]), 0, LEFT + inner - x(props.shown[1]), height);
      context.strokeStyle = accent;
      context.strokeRect(x(props.shown[0]), 0.5, x(props.shown[1]) - x(props.shown[0]), height - 1);
    }
    if (drag) {
      context.fillStyle = accent + "33";
      context.fillRect(Math.min(...drag), TOP, Math.abs(drag[1] - drag[0]), height - BOTTOM - TOP);
    }
  }, [steps, width, height, from, to, theme, over, props.chosen, drag, order, props.shown?.[0], props.shown?.[1]]);

  const indexAt = (event: MouseEvent): number | null => {
    const left = canvas.current!.getBoundingClientRect().left;
    const index = Math.floor(x.invert(event.clientX - left));
    return index >= Math.max(0, from) && index < Math.min(to, steps.number.length) ? index : null;
  };
  const placeOf = (event: MouseEvent) => event.clientX - canvas.current!.getBoundingClientRect().left;

  const move = (event: MouseEvent) => {
    if (drag) { setDrag([drag[0], placeOf(event)]); setPointed(null); return; }
    const index = indexAt(event);
    setOver(index);
    setPointed(index === null ? null : { x: event.clientX, y: event.clientY, tip: <StepTip steps={steps} index={index} order={order} /> });
  };
  const release = (event: MouseEvent) => {
    const dragged = drag;
    setDrag(null);
    if (dragged && props.onRange && Math.abs(dragged[1] - dragged[0]) > 6) {
      const [a, b] = [x.invert(Math.min(...dragged)), x.invert(Math.max(...dragged))];
      const range: [number, number] = [Math.max(0, Math.floor(a)), Math.min(steps.number.length, Math.ceil(b))];
      if (range[1] - range[0] >= 2) props.onRange(range);
      return;
    }
    const index = indexAt(event);
    if (index !== null) props.onChoose?.(index);
  };
  const key = (event: KeyboardEvent) => {
    const last = steps.number.length - 1;
    const now = props.chosen ?? 0;
    const to_: Record<string, number> = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, PageUp: now - 10, PageDown: now + 10 };
    if (event.key in to_ && props.onChoose) {
      event.preventDefault();
      props.onChoose(Math.max(0, Math.min(last, to_[event.key])));
    } else if (event.key === "Escape") props.onRange?.([0, steps.number.length]);
  };

  return (
    <div ref={box} class="chart" style={{ height: `${height}px` }}>
      <canvas ref={canvas} tabIndex={0} role="img" data-shown={`${steps.number[Math.max(0, Math.floor(from))]} ${steps.number[Math.min(to, steps.number.length) - 1]}`}
        aria-label={`Time of ${steps.number.length} steps, stacked by phase. Arrow keys choose a step.`}
        onMouseMove={move} onMouseLeave={() => { setPointed(null); setOver(null); setDrag(null); }}
        onMouseDown={(event) => { if (props.onRange) setDrag([placeOf(event), placeOf(event)]); }}
        onMouseUp={release} onDblClick={() => props.onRange?.([0, steps.number.length])} onKeyDown={key} />
      <Tip at={pointed} />
    </div>
  );
}

export function StepTip({ steps, index, order }: { steps: StepColumns; index: number; order: string[] }) {
  const whole = steps.duration_ns[index] || 1;
  const last = steps.number[index] + steps.group - 1;
  return (
    <div>
      <b>{steps.group > 1 ? `steps ${steps.number[index]} to ${last}, mean` : `step ${steps.number[index]}`}</b> {duration(whole)}
      {!steps.measured[index] && <em> not counted</em>}
      <table class="plain">
        {order.filter((name) => steps.phases[name][index] > 0).map((name) => (
          <tr key={name}>
            <td><Swatch name={name} hatched={ESTIMATED.has(name)} /> {name}</td>
            <td class="number">{duration(steps.phases[name][index])}</td>
            <td class="number">{percent(steps.phases[name][index] / whole)}</td>
          </tr>
        ))}
      </table>
    </div>
  );
}

// Only what is in the chart: each phase, each kind of hatching, and each sign.
export function Legend({ steps }: { steps: StepColumns }) {
  const isEstimated = steps.estimated.some((each, index) => each && steps.measured[index]) || phaseOrder(steps).some((name) => ESTIMATED.has(name));
  const isLeftOut = steps.measured.some((each) => !each);
  const { cut } = tallest(steps, 0, steps.number.length);
  return (
    <div class="legend">
      {phaseOrder(steps).map((name) => <span key={name}><Swatch name={name} hatched={ESTIMATED.has(name)} /> {name}</span>)}
      {isEstimated && <span class="faint"><i class="swatch hatched plain-hatch" /> estimated</span>}
      {isLeftOut && <span class="faint"><i class="swatch crossed plain-hatch" /> not counted: warm-up or operator window</span>}
      {steps.outliers.length > 0 && <span class="faint"><i class="dot" /> far slower than usual</span>}
      {cut && <span class="faint">▴ taller than the chart</span>}
    </div>
  );
}
