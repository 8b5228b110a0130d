// Links, and text that is never interpreted.
import type { ComponentChildren } from "preact";
import { address, go, type Query } from "../route";
import { baseName, kernelName } from "../format";
import type { Location } from "../data";

export function Link(props: { page: string; query?: Query; title?: string; class?: string; children?: ComponentChildren }) {
  const click = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    event.stopPropagation();
    go(props.page, props.query);
  };
  return (
    <a class={props.class} href={address(props.page, props.query)} title={props.title} onClick={click}>
      {props.children}
    </a>
  );
}

// Control characters and direction marks could make a name look like another one: they are shown as escapes.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;

export function visible(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return [...text].map((each) =>
    HIDDEN.test(each) ? `\\u${each.codePointAt(0)!.toString(16).padStart(4, "0")}` : each).join("");
}

// Long names differ at their ends: they are cut in the middle, and the whole is shown on hover.
export function Cut({ text, most = 44 }: { text: string | null | undefined; most?: number }) {
  const whole = visible(text ?? "");
  if (whole.length <= most) return <bdi class="cut">{whole}</bdi>;
  const tail = Math.floor(most * 0.4);
  return <bdi class="cut" title={whole}>{whole.slice(0, most - tail - 1)}…{whole.slice(-tail)}</bdi>;
}

const MOST_OF_KERNEL = 66; // two lines of a column

export function Kernel({ text }: { text: string }) {
  const short = visible(kernelName(text)), tail = Math.floor(MOST_OF_KERNEL * 0.4);
  const cut = short.length > MOST_OF_KERNEL ? `${short.slice(0, MOST_OF_KERNEL - tail - 1)}…${short.slice(-tail)}` : short;
  return <bdi class="kernel" title={visible(text)}>{cut}</bdi>;
}

export function Name({ text, class: kind }: { text: string | null | undefined; class?: string }) {
  return <bdi class={kind}>{visible(text ?? "")}</bdi>;
}

export function Place({ at, short }: { at: Location | null | undefined; short?: Map<string, string> }) {
  if (!at) return <span class="faint">–</span>;
  const name = short?.get(at.file) ?? baseName(at.file);
  return (
    <Link class="place" page="source" query={{ file: at.file, line: at.line }} title={visible(`${at.file}:${at.line}`)}>
      <bdi>{visible(name)}:{at.line}</bdi>
    </Link>
  );
}
