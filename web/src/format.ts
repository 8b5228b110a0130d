// How numbers are written: three significant digits, and always a unit.
import type { Process } from "./data";

export const NOTHING = "–";

export function digits(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 0.9995) return size >= 1e-4 ? value.toPrecision(3) : value.toExponential(1);
  const decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function minutes(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const whole = Math.floor(seconds / 60);
  if (whole < 120) return `${whole} min ${two(seconds % 60)} s`;
  return `${count(Math.floor(whole / 60))} h ${two(whole % 60)} min`;
}

export function duration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return NOTHING;
  if (ns < 0) return "−" + duration(-ns);
  if (ns >= 119.95e9) return minutes(Math.round(ns / 1e9));
  for (const [unit, factor] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]] as const) {
    if (ns >= 0.9995 * factor) return `${digits(ns / factor)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

export const milliseconds = (ms: number | null | undefined) =>
  ms === null || ms === undefined ? NOTHING : duration(ms * 1e6);

// "3.10–4.20 ms": the unit once where both have the same.
export function spread(lowMs: number, highMs: number): string {
  const [low, high] = [milliseconds(lowMs), milliseconds(highMs)];
  const [number, unit] = low.split(" ");
  return low === high ? low : unit !== undefined && high.endsWith(` ${unit}`) && low.split(" ").length === 2 ? `${number}–${high}` : `${low}–${high}`;
}

// "1.48×", and "1.48–2.58×" of what it may be.
export const times = (ratio: number | null | undefined) => (ratio === null || ratio === undefined ? NOTHING : `${digits(ratio)}×`);
export const between = (low: number, high: number) => `${digits(low)}–${digits(high)}×`;

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return NOTHING;
  if (share !== 0 && Math.abs(share) < 0.0005) return "<0.1 %";
  if (share < 0) return "−" + percent(-share);
  return `${(100 * share).toFixed(1)} %`;
}

export const count = (value: number | null | undefined) =>
  value === null || value === undefined ? NOTHING : value.toLocaleString("en-US");

export function counted(value: number, one: string, many = one + "s"): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function size(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return NOTHING;
  if (bytes < 0) return "−" + size(-bytes);
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  while (bytes >= 999.5 && unit < units.length - 1) { bytes /= 1024; unit++; }
  return unit === 0 ? `${Math.round(bytes)} B` : `${digits(bytes)} ${units[unit]}`;
}

// 4.61 K, 2.36 G, 312 T: of operations.
export function large(value: number): string {
  const [unit, factor] = ([["T", 1e12], ["G", 1e9], ["M", 1e6], ["K", 1e3]] as const).find(([, least]) => value >= least) ?? ["", 1];
  return unit ? `${digits(value / factor)} ${unit}` : digits(value);
}

// 64×16×7×7, 8×4: inputs that are not tensors are left out.
export function dimensions(shapes: unknown): string {
  const tensors = (Array.isArray(shapes) ? shapes : []).filter((each): each is unknown[] => Array.isArray(each) && each.length > 0);
  return tensors.map((each) => each.map((size) => (Array.isArray(size) ? `(${size.join("×")})` : String(size))).join("×")).join(", ");
}

// `vectorized_elementwise_kernel<4, AddFunctor<float>>` of what a compiler makes of it: without the
// namespaces, the type that it returns, and its arguments.
export function kernelName(text: string): string {
  if (!/::|^void /.test(text)) return text;
  let depth = 0, from = 0, to = text.length;
  const plain = text.replace(/\(anonymous namespace\)::/g, "");
  for (let at = 0; at < plain.length; at++) {
    const each = plain[at];
    if (each === "<") depth++;
    else if (each === ">" && plain[at - 1] !== "-") depth--;
    else if (depth === 0 && each === " ") from = at + 1;
    else if (depth === 0 && each === "(") { to = at; break; }
  }
  const short = plain.slice(from, to).replace(/\((?:unsigned )?(?:int|long|short|char|bool)\)/g, "")
    .replace(/(?:[A-Za-z_]\w*::)+(?=[A-Za-z_{])/g, "").replace(/ +>/g, ">");
  return short || text;
}

export function rate(bytesPerS: number | null): string {
  return bytesPerS === null ? NOTHING : `${size(bytesPerS)}/s`;
}

export function processName(process: Process | null | undefined): string {
  if (!process) return "";
  if (process.role === "rank") return `rank ${process.rank}`;
  if (process.role === "worker") return process.rank === null ? "workers" : `workers of rank ${process.rank}`;
  return "main";
}

// The file's own name; with its folder if two files have the same name.
export function shortNames(files: Iterable<string>): Map<string, string> {
  const all = [...new Set(files)];
  const base = (file: string, parts: number) => file.split("/").slice(-parts).join("/");
  return new Map(all.map((file) => {
    let parts = 1;
    const total = file.split("/").length;
    while (parts < total && all.some((other) => other !== file && base(other, parts) === base(file, parts))) parts++;
    const short = base(file, parts);
    return [file, parts > 1 && parts < total ? "…/" + short : short];
  }));
}

export const baseName = (file: string) => file.slice(file.lastIndexOf("/") + 1) || file;

export const sentence = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
