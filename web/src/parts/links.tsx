// Links, and text that is never interpreted.
import { Fragment, createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { address, go, type Query } from "../route";
import { baseName, kernelName } from "../format";
import type { Location } from "../data";

// `isPassed`: not a stop of the Tab key, where there are hundreds in a row that arrow keys reach.
export function Link(props: { page: string; query?: Query; title?: string; class?: string; isPassed?: boolean; children?: ComponentChildren }) {
  const click = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    event.stopPropagation();
    go(props.page, props.query);
  };
  return (
    <a class={props.class} href={address(props.page, props.query)} title={props.title} tabIndex={props.isPassed ? -1 : undefined} onClick={click}>
      {props.children}
    </a>
  );
}

// Control characters and direction marks could make a name look like another one: they are shown as escapes.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;

export function visible(text: string): string {
  if (!HIDDEN.test(text)) return text;
  return [...text].map((each) =>
    HIDDEN.test(each) ? `\\u${each.codePointAt(0)!.toString(16).padStart(4, "0")}` : each).join("");
}

// Long names differ at their ends: they are cut in the middle, and the whole is shown on hover.
function middled(whole: string, most: number): string {
  const tail = Math.floor(most * 0.4);
  return whole.length <= most ? whole : `${whole.slice(0, most - tail - 1)}…${whole.slice(-tail)}`;
}

// Columns of tables are as much wider there.
const WIDE = matchMedia("(min-width: 1560px)"), WIDER = 1.6;
const roomy = (letters: number) => Math.round(letters * (WIDE.matches ? WIDER : 1));

// `short`: what is shown instead, if only a part of the whole says much.
export function Cut({ text, short = text, most = 44 }: { text: string | null | undefined; short?: string | null; most?: number }) {
  const whole = visible(text ?? ""), shown = middled(visible(short ?? ""), roomy(most));
  return <bdi class="cut" title={shown === whole ? undefined : whole}>{shown}</bdi>;
}

const MOST_OF_KERNEL = 66; // two lines of a column
const MOST_OF_WORD = 24; // longer ones, which are paths, break anywhere

export function Kernel({ text }: { text: string }) {
  return <bdi class="kernel" title={visible(text)}>{middled(visible(kernelName(text)), roomy(MOST_OF_KERNEL))}</bdi>;
}

// "(1.48–2.58×)" stays on one line.
export function Verdict({ text }: { text: string }) {
  return <bdi>{visible(text).split(/(\([\d.,]+–[\d.,]+×\)\.?)/).map((part, index) => (index % 2 ? <span key={index} class="cut">{part}</span> : part))}</bdi>;
}

export function Name({ text, class: kind }: { text: string | null | undefined; class?: string }) {
  return <bdi class={kind}>{visible(text ?? "")}</bdi>;
}

const MOST_OF_PLACE = 21; // letters for which a column has room

// `<frozen impor…trap>:1165`: the line is never what is cut.
export function Where({ name, line }: { name: string; line: number }) {
  const number = `:${line}`;
  return <bdi><span class="file-name">{middled(visible(name), roomy(MOST_OF_PLACE) - number.length)}</span>{number}</bdi>;
}

// What is typed in a terminal: it breaks between words, and not after the dashes of an option.
export function Command({ text }: { text: string }) {
  return <code>{visible(text).split(" ").map((word, index) => <Fragment key={index}>{index > 0 && " "}<span class={word.length < MOST_OF_WORD ? "cut" : ""}>{word}</span></Fragment>)}</code>;
}

// Whether there is a page of the source that a place can lead to: a trace of another tool often has none.
export const HasSource = createContext(true);

export function Place({ at, short }: { at: Location | null | undefined; short?: Map<string, string> }) {
  if (!at) return <span class="faint">–</span>;
  const name = short?.get(at.file) ?? baseName(at.file);
  if (!useContext(HasSource)) return <span class="faint place" title={visible(`${at.file}:${at.line}`)}><Where name={name} line={at.line} /></span>;
  return (
    <Link class="place" page="source" query={{ file: at.file, line: at.line }} title={visible(`${at.file}:${at.line}`)}>
      <Where name={name} line={at.line} />
    </Link>
  );
}
