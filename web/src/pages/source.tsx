// The files with the time of every line beside it; a click shows what a line called.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Content, FileLines, LineRow, LineSamples } from "../data";
import { baseName, count, counted, duration, percent, processName, shortNames, size } from "../format";
import { highlighted, type Piece } from "../highlight";
import { change, useAsked, useRoute, type Query } from "../route";
import { Bar } from "../parts/bars";
import { Link, Name, visible } from "../parts/links";
import { Choice, Empty, Page, Panel, Search, Select } from "../parts/panel";

type Heat = "time" | "hits" | "ops" | "device" | "alloc";

interface Line { hits: number; counted: number; thinned: boolean; ns: number; ops: number | null; device: number | null; alloc: number | null; estimated: boolean; function: string }

const VALUE: Record<Heat, (line: Line) => number> = {
  time: (line) => line.ns, hits: (line) => line.hits, ops: (line) => line.ops ?? 0,
  device: (line) => line.device ?? 0, alloc: (line) => line.alloc ?? 0,
};

// A line that belongs to several functions (a comprehension's) shows the longest time, as in the summary.
function linesOf(functions: FileLines[]): Map<number, Line> {
  const found = new Map<number, Line>();
  const add = (row: LineRow, name: string) => {
    const [line, counted, ns, ops, device, alloc, estimated, likely] = row;
    const before = found.get(line);
    if (!before || before.ns < ns) found.set(line, { hits: likely ?? counted, counted, thinned: likely !== null, ns, ops, device, alloc, estimated, function: name });
  };
  functions.forEach((each) => each.rows.forEach((row) => add(row, each.function)));
  return found;
}

// What the samples know about the lines of a file.
function samplesOf(content: Content, file: string, role: string | undefined): Map<number, LineSamples> {
  const mine = content.line_samples.filter((each) => each.file === file && processName(each.process) === role);
  return new Map(mine.map((each) => [each.line, each]));
}

// The parts of a line's measured time, if that is known: samples only say how it divides up.
function splitOf(seen: LineSamples, line: Line | undefined) {
  const scale = line ? line.ns / (seen.own_ns + seen.calls_ns || 1) : 1;
  const part = (ns: number | null) => (ns === null ? null : ns * scale);
  return { own: seen.own_ns * scale, calls: seen.calls_ns * scale, python: part(seen.python_ns), native: part(seen.native_ns), waiting: part(seen.waiting_ns) };
}

const PARTS = {
  python: "time in which the interpreter ran",
  native: "time in C that it calls, as in NumPy or PyTorch: in its own thread, or in a library's threads that it waits for",
  waiting: "time in which nothing ran for it: it slept, or waited for a file, a queue or another process",
} as const;
type Part = keyof typeof PARTS;
const NAMES = Object.keys(PARTS) as Part[];

function Split({ seen, line, parts }: { seen: LineSamples | null; line?: Line; parts: Part[] }) {
  const split = seen && splitOf(seen, line);
  return (
    <>
      {parts.map((name) => <span key={name} role="cell" class="number seldom">{split?.[name] ? duration(split[name]) : ""}</span>)}
      <span role="cell" class="course seldom">{seen && <Spark values={seen.course} />}</span>
    </>
  );
}

function Spark({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  return (
    <svg class="spark" viewBox={`0 0 ${values.length} 14`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((each, index) => each > 0 && <rect key={index} x={index} width={0.85} y={14 - Math.max(1, (14 * each) / most)} height={Math.max(1, (14 * each) / most)} />)}
    </svg>
  );
}

function fileTimes(functions: FileLines[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const each of functions) times.set(each.file, Math.max(times.get(each.file) ?? 0, each.total_ns));
  return times;
}

export function Source({ content }: { content: Content }) {
  const { query } = useRoute();
  const roles = useMemo(() => [...new Set(content.lines.map((each) => processName(each.process)))], [content]);
  const role = query.process && roles.includes(query.process) ? query.process : firstRole(content, roles, query.file, query.line);
  const mine = useMemo(() => content.lines.filter((each) => processName(each.process) === role), [content, role]);
  const times = useMemo(() => fileTimes(mine), [mine]);
  const files = useMemo(() => [...times].sort((a, b) => b[1] - a[1]).map(([file]) => file), [times]);
  const hot = content.summary.hottest[0]?.file;
  const file = query.file ?? (hot && times.has(hot) ? hot : files[0]);
  const line = Number(query.line) || null;
  const short = shortNames(files);
  if (!content.lines.length) return <Page title="Source"><Empty>{content.nothing.lines} <code>--include GLOB</code> makes code count as yours.</Empty></Page>;
  return (
    <Page title="Source" note={<>Times include what a line calls. {counted(files.length, "file")} ran.</>}
      actions={roles.length > 1 && <Select label="process" value={role} options={roles.map((each) => [each, each])} onChange={(value) => change({ file, line, process: value }, true)} />}>
      <div class={files.length > 1 ? "source-page" : ""}>
        {files.length > 1 && <nav class="files" aria-label="Files">
          {files.map((each) => (
            <Link key={each} page="source" query={{ file: each, process: roles.length > 1 ? role : null }} class={each === file ? "here" : ""} title={visible(each)}>
              <Name text={short.get(each)} /><span class="faint number">{duration(times.get(each))}</span>
            </Link>
          ))}
        </nav>}
        {file && <File key={`${file} ${role}`} content={content} file={file} functions={mine.filter((each) => each.file === file)} line={line} role={roles.length > 1 ? role : null} />}
      </div>
    </Page>
  );
}

function firstRole(content: Content, roles: string[], file?: string, line?: string): string {
  const at = Number(line);
  const found = file && content.lines.find((each) => each.file === file && (!at || each.rows.some((row) => row[0] === at)));
  return found ? processName(found.process) : roles.includes("main") ? "main" : roles[0];
}

function File(props: { content: Content; file: string; functions: FileLines[]; line: number | null; role: string | null }) {
  const { content, file, functions, line } = props;
  const lines = useMemo(() => linesOf(functions), [functions]);
  const text = content.sources?.[file] ?? null;
  const shown = useMemo(() => text ?? Array.from({ length: Math.max(0, ...lines.keys()) }, () => ""), [text, lines]);
  const pieces = useMemo(() => highlighted(shown), [shown]);
  const has = (heat: Heat) => [...lines.values()].some((each) => VALUE[heat](each) > 0);
  const heats = (["time", "hits", "ops", "device", "alloc"] as Heat[]).filter((each) => each === "time" || each === "hits" || has(each));
  const { query } = useRoute();
  const [asked, setHeat] = useAsked<Heat>("heat", "time");
  const heat = heats.includes(asked) ? asked : "time";
  const [find, setFind] = useAsked<string>("find", "");
  const at = (number: number | null): Query => ({ ...query, file, line: number, process: props.role });
  const most = Math.max(1, ...[...lines.values()].map(VALUE[heat]));
  const samples = useMemo(() => samplesOf(content, file, functions[0] && processName(functions[0].process)), [content, file, functions]);
  const isSampled = samples.size > 0;
  const parts = [...samples.values()].some((each) => each.python_ns !== null) ? NAMES : [];
  const box = useRef<HTMLDivElement>(null);
  const whole = content.summary.wall_ns || 1;

  useEffect(() => {
    const known = content.summary.hottest.find((each) => each.file === file && lines.has(each.line))?.line;
    const to = line ?? known ?? [...lines].sort((a, b) => b[1].ns - a[1].ns)[0]?.[0];
    const row = to && box.current?.querySelector<HTMLElement>(`[data-line="${to}"]`);
    if (!row || !box.current) return;
    const [top, height] = [row.offsetTop - box.current.offsetTop, box.current.clientHeight];
    const seen = box.current.scrollTop;
    if (top < seen + 40 || top > seen + height - 40) box.current.scrollTop = top - height / 2;
  }, [file, line]);

  const jump = (back: boolean) => {
    const words = find.toLowerCase();
    const hits = shown.map((each, index) => (each.toLowerCase().includes(words) ? index + 1 : 0)).filter(Boolean);
    if (!words || !hits.length) return;
    const now = line ?? 0;
    const to = back ? [...hits].reverse().find((each) => each < now) ?? hits[hits.length - 1] : hits.find((each) => each > now) ?? hits[0];
    change(at(to), true);
  };
  const key = (event: KeyboardEvent) => {
    const ordered = [...lines.keys()].sort((a, b) => a - b);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const now = line ?? 0;
    const to = event.key === "ArrowDown" ? ordered.find((each) => each > now) : [...ordered].reverse().find((each) => each < now);
    if (to) change(at(to), true);
  };
  const titles: Record<Heat, string> = { time: "time", hits: "hits", ops: "operators", device: "device", alloc: "allocated" };

  return (
    <div class={line ? "file-and-line opened" : "file-and-line"}>
      <Panel title={<Name text={file} />} class="file"
        actions={<>
          <Search value={find} onInput={setFind} onEnter={jump} placeholder="Find in this file" />
          <Choice label="Heat" value={heat} options={heats.map((each) => [each, titles[each]])} onChange={setHeat} />
        </>}>
        {!text && <p class="faint">{content.sources === null ? "The report was made without source." : "The text of this file was not kept."}</p>}
        <div class="code" ref={box} tabIndex={0} onKeyDown={key} role="table" aria-label={`Lines of ${file}`}>
          <div class="code-row code-head" role="row">
            <span role="columnheader" class="number at">line</span><span role="columnheader" class="number">time</span><span role="columnheader" class="number share spare">of run</span>
            <span role="columnheader" class="number hits">hits</span><span role="columnheader" class="number spare">per hit</span>
            {parts.map((name) => <span key={name} role="columnheader" class="number seldom" title={PARTS[name]}>{name}</span>)}
            {isSampled && <span role="columnheader" class="course seldom" title="when it ran, from its beginning to its end">over the run</span>}
            {heats.includes("ops") && <span role="columnheader" class="number spare">operators</span>}
            {heats.includes("device") && <span role="columnheader" class="number spare">device</span>}
            {heats.includes("alloc") && <span role="columnheader" class="number spare">allocated</span>}
            <span role="columnheader" class="text">source</span>
          </div>
          {shown.map((_, index) => (
            <Row key={index} number={index + 1} line={lines.get(index + 1)} parts={parts} seen={isSampled ? samples.get(index + 1) ?? null : undefined} pieces={pieces[index]} heat={heat} most={most} whole={whole} heats={heats}
              chosen={line === index + 1} found={!!find && shown[index].toLowerCase().includes(find.toLowerCase())}
              to={at(index + 1)} />
          ))}
        </div>
      </Panel>
      {line && <AboutLine content={content} file={file} number={line} line={lines.get(line)} functions={functions} onClose={() => change(at(null), true)} />}
    </div>
  );
}

function Row(props: { number: number; line?: Line; seen?: LineSamples | null; parts: Part[]; pieces: Piece[]; heat: Heat; most: number; whole: number; heats: Heat[]; chosen: boolean; found: boolean; to: Query }) {
  const { line } = props;
  const share = line ? VALUE[props.heat](line) / props.most : 0;
  const heat = share > 0 ? Math.max(0.04, Math.sqrt(share) * 0.85) : 0;
  return (
    <div class={`code-row ${props.chosen ? "chosen" : ""} ${props.found ? "found" : ""} ${line ? "hit" : ""}`} role="row" data-line={props.number}
      onClick={() => change(props.to)} style={{ "--heat": heat.toFixed(3) }}>
      <span class="number faint at" role="cell">{line ? <Link page="source" query={props.to} isPassed>{props.number}</Link> : props.number}</span>
      <span class="number heat" role="cell">{line && <>{line.estimated && <abbr title="estimated: this line was thinned out">≈</abbr>}{duration(line.ns)}</>}</span>
      <span class="number share spare" role="cell">{line && percent(line.ns / props.whole)}</span>
      <span class="number hits" role="cell">{line && <>{line.thinned && <abbr title={`estimated: ${count(line.counted)} were counted before this line was thinned out`}>≈</abbr>}{count(line.hits)}</>}</span>
      <span class="number spare" role="cell">{line && duration(line.ns / Math.max(1, line.hits))}</span>
      {props.seen !== undefined && <Split seen={props.seen} line={line} parts={props.parts} />}
      {props.heats.includes("ops") && <span class="number spare" role="cell">{line?.ops ? duration(line.ops) : ""}</span>}
      {props.heats.includes("device") && <span class="number spare" role="cell">{line?.device ? duration(line.device) : ""}</span>}
      {props.heats.includes("alloc") && <span class="number spare" role="cell">{line?.alloc ? size(line.alloc) : ""}</span>}
      <span class="text" role="cell">{props.pieces.map(([kind, text], index) => (kind ? <i key={index} class={`t-${kind}`}>{visible(text)}</i> : visible(text)))}</span>
    </div>
  );
}

function AboutLine(props: { content: Content; file: string; number: number; line?: Line; functions: FileLines[]; onClose: () => void }) {
  const { content, file, number, line } = props;
  const at = (place: { file: string; line: number } | null) => place?.file === file && place.line === number;
  const ops = (content.ops?.ops ?? []).flatMap((op) => op.locations.filter(at).map((place) => ({ op, place })))
    .sort((a, b) => b.place.self_cpu_ns - a.place.self_cpu_ns);
  const kernels = (content.kernels?.kernels ?? []).filter((each) => at(each.location));
  const files = (content.files?.files ?? []).filter((each) => at(each.location));
  const memory = (content.memory?.lines ?? []).filter((each) => at(each.location));
  const findings = (content.findings?.findings ?? []).filter((each) => at(each.location));
  const seen = samplesOf(content, file, props.functions[0] && processName(props.functions[0].process)).get(number);
  const split = seen && splitOf(seen, line);
  const owner = props.functions.find((each) => each.rows.some((row) => row[0] === number));
  const whole = ops.reduce((sum, each) => sum + each.place.self_cpu_ns, 0) || 1;
  return (
    <aside class="about" aria-label={`About line ${number}`}>
      <Panel title={<>{baseName(visible(file))}:{number}</>} actions={<button type="button" aria-label="Close" onClick={props.onClose}>✕</button>}>
        {!line && <p class="faint">This line did not run, or it is not the first of its statement.</p>}
        {line && (
          <table class="plain">
            <tbody>
              <tr><td>time, callees included</td><td class="number">{duration(line.ns)}</td></tr>
              <tr><td>of the run</td><td class="number">{percent(line.ns / (content.summary.wall_ns || 1))}</td></tr>
              <tr><td>hits</td><td class="number">{line.thinned && "≈"}{count(line.hits)}</td></tr>
              <tr><td>per hit</td><td class="number">{line.estimated && "≈"}{duration(line.ns / Math.max(1, line.hits))}</td></tr>
              {split && <tr><td>in the line itself</td><td class="number">{duration(split.own)}</td></tr>}
              {split && <tr><td>in Python functions it calls</td><td class="number">{duration(split.calls)}</td></tr>}
              {split && NAMES.map((name) => split[name] !== null && <tr key={name}><td title={PARTS[name]}>{name}</td><td class="number">{duration(split[name])}</td></tr>)}
              {line.ops !== null && <tr><td>operators, in windows</td><td class="number">{duration(line.ops)}</td></tr>}
              {line.device !== null && <tr><td>on the device, in windows</td><td class="number">{duration(line.device)}</td></tr>}
              {line.alloc !== null && <tr><td>allocated, in windows</td><td class="number">{size(line.alloc)}</td></tr>}
            </tbody>
          </table>
        )}
        {owner && <p>in <Link page="functions" query={{ function: owner.function, file }}><Name text={owner.function} /></Link>{owner.calls !== null && <span class="faint"> · {counted(owner.calls, "call")}</span>}</p>}
        {line?.thinned && <p class="faint">This line was thinned out to keep the cost low, after {counted(line.counted, "hit")}. Its time comes from samples, its hits from that and what a hit took until then.</p>}
        {findings.map((each, index) => <p key={index} class="warn"><Link page="overview" query={{ finding: each.id }}><Name text={each.title} /></Link></p>)}
        {ops.length > 0 && <h3>Operators from here</h3>}
        {ops.length > 0 && (
          <table class="plain"><tbody>
            {ops.slice(0, 15).map(({ op, place }) => (
              <tr key={op.name}><td class="wide"><Link page="operators" query={{ op: op.name }}><Name text={op.name} /></Link></td><td class="bar-cell"><Bar share={place.self_cpu_ns / whole} /></td><td class="number">{count(place.calls)}×</td><td class="number">{duration(place.self_cpu_ns)}</td></tr>
            ))}
          </tbody></table>
        )}
        {kernels.length > 0 && <h3>On the device</h3>}
        {kernels.length > 0 && (
          <table class="plain"><tbody>
            {kernels.slice(0, 10).map((each) => <tr key={each.name}><td class="wide"><Link page="operators" query={{ "find kernels": each.name }}><Name text={each.name} /></Link></td><td class="number">{duration(each.total_ns)}</td></tr>)}
          </tbody></table>
        )}
        {files.length > 0 && <h3>Files opened here</h3>}
        {files.map((each) => <p key={each.path} class="tight"><Link page="files" query={{ "find files": each.path }}><Name text={baseName(each.path)} /></Link> <span class="faint">{count(each.opens)}×, {duration(each.total_ns)}</span></p>)}
        {memory.map((each, index) => <p key={index} class="tight">allocated {size(each.alloc_bytes)}, kept {size(each.kept_bytes)}</p>)}
        <p><Link page="timeline" query={{ find: `${baseName(file)}:${number}` }}>Find it on the timeline</Link></p>
      </Panel>
    </aside>
  );
}

