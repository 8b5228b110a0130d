// Find anything: functions, files, operators, pages. Opens with / or Ctrl-K.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Content } from "../data";
import { duration } from "../format";
import { go, type Query } from "../route";
import { visible } from "./links";

interface Entry { kind: string; name: string; detail: string; page: string; query: Query }

function entries(content: Content, pages: readonly (readonly [string, string])[]): Entry[] {
  const found: Entry[] = pages.map(([page, title]) => ({ kind: "page", name: title, detail: "", page, query: {} }));
  const files = new Set(content.lines.map((each) => each.file));
  files.forEach((file) => found.push({ kind: "file", name: file, detail: "", page: "source", query: { file } }));
  content.lines.forEach((each) => found.push({ kind: "function", name: each.function, detail: `${each.file}:${each.first_line} · ${duration(each.total_ns)}`, page: "source", query: { file: each.file, line: each.first_line } }));
  content.functions?.functions.slice(0, 400).forEach((each) => { if (!files.has(each.file)) found.push({ kind: "library", name: each.function, detail: each.file, page: "functions", query: { function: each.function, file: each.file } }); });
  content.ops?.ops.forEach((each) => found.push({ kind: "operator", name: each.name, detail: duration(each.self_cpu_ns), page: "operators", query: { op: each.name } }));
  content.files?.files.slice(0, 200).forEach((each) => found.push({ kind: "opened", name: each.path, detail: duration(each.total_ns), page: "files", query: { "find files": each.path } }));
  return found;
}

export function Finder({ content, pages, onClose }: { content: Content; pages: readonly (readonly [string, string])[]; onClose: () => void }) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const all = useMemo(() => entries(content, pages), [content]);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter((each) => { const text = `${each.kind} ${each.name} ${each.detail}`.toLowerCase(); return parts.every((part) => text.includes(part)); }).slice(0, 14);
  const open = (entry: Entry | undefined) => { if (entry) { onClose(); go(entry.page, entry.query); } };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") open(found[at]);
    else if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="finder-back" onClick={onClose}>
      <div class="finder" role="dialog" aria-label="Find anything" onClick={(event) => event.stopPropagation()} onKeyDown={key}>
        <input ref={input} type="search" placeholder="Find a function, file, operator, page" aria-label="Find anything" value={words} onInput={(event) => { setWords(event.currentTarget.value); setAt(0); }} />
        <ul role="listbox">
          {found.map((each, index) => (
            <li key={index} role="option" aria-selected={index === at} onMouseEnter={() => setAt(index)} onClick={() => open(each)}>
              <span class="faint">{each.kind}</span> <bdi>{visible(each.name)}</bdi> <span class="faint">{visible(each.detail)}</span>
            </li>
          ))}
          {!found.length && <li class="faint">Nothing matches.</li>}
        </ul>
      </div>
    </div>
  );
}
