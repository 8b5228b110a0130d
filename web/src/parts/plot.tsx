// Lines over time or steps, drawn by uPlot.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { themed } from "../colours";
import { useTheme } from "../theme";
import { useWidth } from "./measure";

export interface Line { label: string; colour: string; values: (number | null)[]; dash?: number[]; fill?: boolean }

const POWERS = Array.from({ length: 52 }, (_, power) => 2 ** power);

interface Props {
  label: string;
  xs: number[];
  lines: Line[];
  height: number;
  x: (value: number) => string;
  y: (value: number) => string;
  yMin?: number;
  binary?: boolean; // ticks at powers of two, for bytes
}

export function Plot(props: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const place = useRef<HTMLDivElement>(null);
  const [, theme] = useTheme();
  useEffect(() => {
    if (!place.current || width < 50) return;
    const ink = themed("--faint"), line = themed("--line");
    const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
    const plot = new uPlot({
      width, height: props.height,
      cursor: { y: false, points: { size: 6 } },
      legend: { live: true },
      scales: { x: { time: false }, y: { range: (_, low, high) => [props.yMin ?? low, high * 1.05 || 1] } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((each) => (each ? props.x(each) : "0")) },
        { ...axis, size: 76, ...(props.binary ? { incrs: POWERS } : {}), values: (_, ticks) => ticks.map((each) => (each ? props.y(each) : "0")) },
      ],
      series: [
        { label: "at", value: (_, value) => (value === null ? "–" : props.x(value)) },
        ...props.lines.map((each) => ({
          label: each.label, stroke: each.colour, width: 1.6, dash: each.dash, spanGaps: true,
          fill: each.fill ? each.colour + "22" : undefined, points: { show: false },
          value: (_: uPlot, value: number | null) => (value === null ? "–" : props.y(value)),
        })),
      ],
    }, [props.xs, ...props.lines.map((each) => each.values)], place.current);
    return () => plot.destroy();
  }, [props.xs, props.lines, width, theme]);
  return <div ref={box} class="plot" style={{ minHeight: `${props.height + 30}px` }} role="img" aria-label={props.label}><div ref={place} /></div>;
}
