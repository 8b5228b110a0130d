// Shares as bars: one per row, or all parts of a whole side by side.
import { phase } from "../colours";
import { percent } from "../format";

export function Bar({ share, colour }: { share: number | null; colour?: string }) {
  const width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`;
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width, ...(colour ? { background: colour } : {}) }} />
    </span>
  );
}

export interface Part { name: string; share: number; text: string; hatched?: boolean }
export type Colours = (name: string) => string;

export function Stacked({ parts, label, colours = phase }: { parts: Part[]; label: string; colours?: Colours }) {
  return (
    <div class="stacked" role="img" aria-label={label}>
      {parts.filter((part) => part.share > 0).map((part) => (
        <span key={part.name} class={part.hatched ? "hatched" : ""} title={`${part.name}: ${part.text}, ${percent(part.share)}`}
          style={{ width: `${part.share * 100}%`, backgroundColor: colours(part.name) }} />
      ))}
    </div>
  );
}

export function Swatch({ name, hatched, colours = phase }: { name: string; hatched?: boolean; colours?: Colours }) {
  return <i class={hatched ? "swatch hatched" : "swatch"} style={{ backgroundColor: colours(name) }} />;
}
