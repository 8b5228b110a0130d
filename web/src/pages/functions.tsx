// Functions: the call tree of a thread in several looks, and pstats' table.
import { useMemo } from "preact/hooks";
import type { Called, Caller, Content, ShownFunction, Tree } from "../data";
import { count, counted, duration, percent, processName, shortNames } from "../format";
import { change, useAsked, useRoute } from "../route";
import { Bar } from "../parts/bars";
import { Cut, Link, Name, Where, visible } from "../parts/links";
import { Choice, Empty, Notes, Page, Panel, Search, Select } from "../parts/panel";
import { Table } from "../parts/table";
import { Icicle } from "../parts/icicle";
import { Sunburst } from "../parts/sunburst";
import { Sandwich } from "../parts/sandwich";
import { laneOf, matches, ordered, planted, type Branch } from "../parts/branches";

type Look = "left heavy" | "flame" | "time order" | "sandwich" | "sunburst";

const LOOKS: readonly (readonly [Look, string])[] = [
  ["left heavy", "left heavy"], ["flame", "flame graph"], ["time order", "time order"], ["sandwich", "sandwich"], ["sunburst", "sunburst"],
];
const treeName = (tree: Tree) =>
  `${processName(tree.process)} · ${tree.thread}${tree.threads > 1 ? ` (${tree.threads} threads)` : ""} · ${tree.source === "calls" ? "every call" : "sampled"}`;

// The time of what matches, each moment once.
function matched(root: Branch, find: string): number {
  if (!find) return 0;
  let ns = 0;
  const visit = (branch: Branch) => { if (branch.file !== "" && matches(branch, find)) ns += branch.total; else branch.children.forEach(visit); };
  visit(root);
  return ns;
}

// A branch in the address: the numbers of its ancestors among their siblings.
const pathOf = (branch: Branch) => branch.path.slice(1).map((each, index) => branch.path[index].children.indexOf(each)).join(".");
const branchAt = (root: Branch, path: string) =>
  path.split(".").filter(Boolean).reduce<Branch | undefined>((branch, at) => branch?.children[Number(at)], root) ?? root;

function Graph({ content }: { content: Content }) {
  const [which] = useAsked<string>("thread", "0");
  const [look] = useAsked<Look>("look", "left heavy");
  const [find, setFind] = useAsked<string>("find", "");
  const [depth, setDepth] = useAsked<string>("depth", "24");
  const { query } = useRoute();
  const tree = content.trees[Number(which)] ?? content.trees[0];
  const lane = useMemo(() => laneOf(content, tree), [content, tree]);
  const isInTime = look === "time order" && lane !== null;
  const root = useMemo(() => (isInTime ? ordered(tree, content, lane!) : planted(tree, content.called)), [tree, content, isInTime]);
  const focus = branchAt(root, query.at ?? "");
  const found = useMemo(() => matched(root, find), [root, find]);
  const whole = root.total || 1;
  const onFocus = (branch: Branch | null) => change({ at: branch ? pathOf(branch) : null });
  const props = { root, focus, find, depth: Number(depth), onFocus };
  const looks = LOOKS.filter(([each]) => each !== "time order" || lane !== null);
  return (
    <Panel title="Call tree" note={`${duration(tree.total_ns)}${tree.samples !== null ? `, ${counted(tree.samples, "sample")}` : ", every call counted"}`}
      actions={<>
        <Select label="thread" value={which} options={content.trees.map((each, index) => [String(index), treeName(each)])} onChange={(value) => change({ thread: value === "0" ? null : value, at: null }, true)} />
        <Select label="depth" value={depth} options={["6", "8", "12", "24", "48"].map((each) => [each, each])} onChange={setDepth} />
        <Search value={find} onInput={setFind} placeholder="Find a function" />
        <Choice label="Look" value={look} options={looks} onChange={(value) => change({ look: value === "left heavy" ? null : value, at: null }, true)} />
      </>}>
      <p class="crumbs">
        {focus.path.map((each, index) => <button key={index} type="button" onClick={() => onFocus(each)}>{visible(each.name)}</button>)}
        <span class="faint">{duration(focus.total)} · {percent(focus.total / whole)}</span>
        {find && <span class="faint matched">“{find}”: {duration(found)}, {percent(found / whole)} of the thread</span>}
        {focus.file && <Link page="functions" query={{ function: focus.name, file: focus.file }}>in the table</Link>}
        {focus.library === null && focus.file && <Link page="source" query={{ file: focus.file, line: focus.line }}>its source</Link>}
      </p>
      {look === "sunburst" ? <Sunburst {...props} /> : look === "sandwich" ? <Sandwich {...props} /> : <Icicle {...props} upwards={look === "flame"} />}
      <p class="faint small">{isInTime ? "From left to right as it happened. " : look === "sandwich" ? "Above: who called it; below: what it called. " : "The longest on the left. "}A click zooms in, Escape out; arrow keys move. Orange: your own code. Width: time, callees included.</p>
    </Panel>
  );
}

function Calls({ rows, title, called }: { rows: Caller[]; title: string; called: Called[] }) {
  return (
    <div>
      <h3>{title}</h3>
      {!rows.length && <p class="faint">none recorded</p>}
      <table class="plain">
        {rows.length > 0 && <thead><tr><th scope="col">function</th><th scope="col" class="number">calls</th><th scope="col" class="number">own</th><th scope="col" class="number">with callees</th></tr></thead>}
        <tbody>
          {rows.map(([number, ncalls, own, all], index) => (
            <tr key={index}><td class="wide"><Link page="functions" query={{ function: called[number][0], file: called[number][1] }}><Name text={called[number][0]} /></Link></td><td class="number">{count(ncalls)}</td><td class="number">{duration(own)}</td><td class="number">{duration(all)}</td></tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// Where calls were not counted, a function's own time is known from samples only, even if its lines have its total.
const isSampled = (row: ShownFunction) => row.estimated || row.primitive_calls === null;
const Estimated = () => <abbr title="estimated">≈</abbr>;

export function Functions({ content }: { content: Content }) {
  const { query } = useRoute();
  const answer = content.functions;
  const roles = useMemo(() => [...new Set((answer?.functions ?? []).map((each) => processName(each.process)))], [answer]);
  const [role, setRole] = useAsked<string>("process", "all");
  const own = useMemo(() => new Set(content.lines.map((each) => each.file)), [content]);
  if (!answer) return <Page title="Functions"><Empty>{content.nothing.functions}</Empty></Page>;
  const rows = answer.functions.filter((each) => role === "all" || processName(each.process) === role);
  const short = shortNames(rows.map((each) => each.file));
  const most = Math.max(1, ...rows.map((each) => each.tottime_ns ?? 0));
  const key = (row: ShownFunction) => `${row.function}|${row.file}|${row.line}|${processName(row.process)}`;
  const chosen = query.function ? rows.find((each) => each.function === query.function && (!query.file || each.file === query.file)) : undefined;
  return (
    <Page title="Functions" note={answer.exact ? "Every call was counted." : "Times of libraries are estimates from samples; your own functions have exact numbers of calls."}>
      {content.trees.length > 0 ? <Graph content={content} /> : <Empty>No stacks were sampled.</Empty>}
      <Panel title="All functions" note={chosen && <>opened: <Name text={chosen.function} /></>}>
        <Table label="functions" rows={rows} sort="tottime" most={60} rowKey={key} chosen={chosen && key(chosen)}
          link={(row) => ["functions", { ...query, function: row === chosen ? null : row.function, file: row === chosen ? null : row.file }]}
          find={(row) => `${row.function} ${row.file}`}
          actions={roles.length > 1 && <Select label="process" value={role} options={[["all", "all"], ...roles.map((each) => [each, each] as const)]} onChange={setRole} />}
          unfolded={(row) => (
            <div class="columns two">
              <Calls title="called by" rows={row.callers} called={content.called} /><Calls title="calls" rows={row.callees} called={content.called} />
            </div>
          )}
          columns={[
            { key: "function", title: "function", text: true, wide: true, value: (row) => row.function, cell: (row) => <>{own.has(row.file) && <i class="own" title="your own code" />}<Cut text={row.function} most={36} /></> },
            { key: "file", title: "where", text: true, value: (row) => row.file, cell: (row) => (own.has(row.file)
              ? <Link class="place" page="source" query={{ file: row.file, line: row.line }} title={visible(row.file)}><Where name={short.get(row.file) ?? row.file} line={row.line} /></Link>
              : <span class="faint place" title={visible(row.file)}>{row.file === "~" ? "built-in" : <Where name={short.get(row.file) ?? row.file} line={row.line} />}</span>) },
            ...(roles.length > 1 ? [{ key: "process", title: "process", text: true, value: (row: ShownFunction) => processName(row.process) }] : []),
            { key: "ncalls", title: "ncalls", hint: "how often it was called", value: (row) => row.ncalls, cell: (row) => <>{count(row.ncalls)}{row.primitive_calls !== null && row.primitive_calls !== row.ncalls && <span class="faint">/{count(row.primitive_calls)}</span>}</> },
            { key: "share", title: "", value: (row) => row.tottime_ns, cell: (row) => <Bar share={(row.tottime_ns ?? 0) / most} /> },
            { key: "tottime", title: "tottime", hint: "its own time, without what it calls", value: (row) => row.tottime_ns, cell: (row) => <>{isSampled(row) && row.tottime_ns !== null && <Estimated />}{duration(row.tottime_ns)}</> },
            { key: "percall", title: "per call", value: (row) => (row.ncalls && row.tottime_ns !== null ? row.tottime_ns / row.ncalls : null), cell: (row) => duration(row.ncalls && row.tottime_ns !== null ? row.tottime_ns / row.ncalls : null) },
            { key: "cumtime", title: "cumtime", hint: "with what it calls", value: (row) => row.cumtime_ns, cell: (row) => <>{row.estimated && row.cumtime_ns !== null && <Estimated />}{duration(row.cumtime_ns)}</> },
          ]} />
      </Panel>
      <Notes notes={answer.notes} />
    </Page>
  );
}
