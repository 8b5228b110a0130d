// How wide an element is, and a canvas that is as sharp as the screen.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

export function useWidth<E extends HTMLElement>(): [RefObject<E>, number] {
  const ref = useRef<E>(null);
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => set(Math.floor(element.clientWidth)));
    observer.observe(element);
    set(Math.floor(element.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

export function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Draws at most once per frame, however often it is asked to.
export function useDrawing(draw: () => void, inputs: unknown[]): void {
  const latest = useRef(draw);
  latest.current = draw;
  useEffect(() => {
    const frame = requestAnimationFrame(() => latest.current());
    return () => cancelAnimationFrame(frame);
  }, inputs);
}

export type Hatching = "estimated" | "left out";

// Diagonal lines over what is estimated, crossed ones over what is not counted.
export function hatch(context: CanvasRenderingContext2D, colour: string, kind: Hatching): CanvasPattern {
  const pattern = document.createElement("canvas");
  pattern.width = pattern.height = 6;
  const lines = pattern.getContext("2d")!;
  lines.strokeStyle = colour;
  lines.lineWidth = kind === "estimated" ? 1.4 : 1.1;
  lines.beginPath();
  for (const shift of [-6, 0, 6]) {
    lines.moveTo(shift - 1, 7); lines.lineTo(shift + 7, -1);
    if (kind === "left out") { lines.moveTo(shift - 1, -1); lines.lineTo(shift + 7, 7); }
  }
  lines.stroke();
  return context.createPattern(pattern, "repeat")!;
}
