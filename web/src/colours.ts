// Colours that people with any kind of colour vision can tell apart; each also has a name beside it.
import { PARTS, PHASES, RANKS } from "./model/colours";

const SERIES = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee7733", "#44aa99", "#999933",
  "#7a6bd1", "#cc6677", "#6699cc"];

export function series(index: number): string {
  return SERIES[index % SERIES.length];
}

function hash(text: string): number {
  let value = 2166136261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
  return value >>> 0;
}

export function byName(name: string): string {
  return series(hash(name));
}

export function phase(name: string): string {
  return PHASES[name] ?? byName(name);
}

// Of the whole run: other colours than a step's, so that nobody takes one bar for the other.
export function part(name: string): string {
  return PARTS[name] ?? byName(name);
}

// Of a rank's step, whose parts are not all phases.
export function rankPart(name: string): string {
  return RANKS[name] ?? byName(name);
}

// The user's own code stands out; each library has its own quieter tone.
export function library(name: string | null): string {
  return name === null ? "#ee7733" : ["#6699cc", "#66a5ad", "#8f9ccf", "#7fb069", "#b59fc9", "#c9a86a", "#9aa3ab",
    "#79a9c9"][hash(name) % 8];
}

// White or black, whichever is easier to read on it.
export function inkOn(colour: string): string {
  const value = parseInt(colour.slice(1), 16);
  const channel = (shift: number) => {
    const part = ((value >> shift) & 255) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
  return light > 0.24 ? "#16191c" : "#ffffff";
}

export function themed(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
