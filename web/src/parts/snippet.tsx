// A few source lines around one, in colours; and a change to make.
import type { Content, Location } from "../data";
import { highlighted } from "../highlight";
import { go } from "../route";
import { Link, visible } from "./links";

const AROUND = 2;

export function Snippet({ content, at, text }: { content: Content; at: Location | null; text: string | null }) {
  const lines = at ? content.sources?.[at.file] : undefined;
  if (!at || !lines) return text ? <pre class="snippet"><span class="here">{visible(text.trim())}</span></pre> : null;
  const pieces = highlighted(lines);
  const first = Math.max(1, at.line - AROUND), last = Math.min(lines.length, at.line + AROUND);
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return (
    <pre class="snippet">
      {numbers.map((number) => (
        <span key={number} class={number === at.line ? "here" : ""} onClick={() => go("source", { file: at.file, line: number })}>
          <Link class="at" page="source" query={{ file: at.file, line: number }} isPassed>{number}</Link>{pieces[number - 1].map(([kind, part], index) => <i key={index} class={kind ? `t-${kind}` : ""}>{visible(part)}</i>)}{"\n"}
        </span>
      ))}
    </pre>
  );
}

export function Patch({ text }: { text: string }) {
  return (
    <pre class="patch">
      {visible(text).split("\n").map((line, index) => (
        <span key={index} class={/^(@@|\+\+\+ |--- )/.test(line) ? "faint" : line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : ""}>{line}{"\n"}</span>
      ))}
    </pre>
  );
}
