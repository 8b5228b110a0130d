// Two runs side by side: from a report that has a comparison, or with a run chosen in the viewer.
import { useEffect, useState } from "preact/hooks";
import type { Change, ComparedRun, ComparisonAnswer, Content, RunEntry } from "../data";
import { between, count, digits, duration, milliseconds, percent, size, spread, times } from "../format";
import { Name, Place, visible } from "../parts/links";
import { Empty, Figure, Page, Panel, Select } from "../parts/panel";
import { Table } from "../parts/table";
import { useAsked } from "../route";
import { compared } from "../server";

export interface Others { run: string; runs: RunEntry[] }

const KINDS = [
  ["phase", "Phases"], ["function", "Functions"], ["line", "Lines"], ["op", "Operators"], ["kernel", "Kernels"],
] as const;
const SIGNS = { gone: "−", new: "+", "still there": "=" } as const;

const signed = (ns: number) => (ns > 0 ? "+" : "") + duration(ns);

function Changes({ title, rows }: { title: string; rows: Change[] }) {
  if (!rows.length) return null;
  const longest = Math.max(...rows.map((row) => Math.max(row.before_ns, row.after_ns)), 1);
  const bar = (ns: number, kind: string) => <span class={`pair-bar ${kind}`} style={{ width: `${Math.max(0, 100 * ns / longest)}%` }} />;
  return (
    <Panel title={title}>
      <Table label={title.toLowerCase()} rows={rows} sort="size" rowKey={(row, index) => `${row.name}${index}`} find={(row) => row.name}
        columns={[
          { key: "name", title: "name", text: true, wide: true, value: (row) => row.name, cell: (row) => <Name text={row.name} /> },
          { key: "bars", title: "before and after", value: (row) => Math.max(row.before_ns, row.after_ns), cell: (row) => <span class="pair">{bar(row.before_ns, "before")}{bar(row.after_ns, "after")}</span> },
          { key: "before", title: "before", value: (row) => row.before_ns, cell: (row) => duration(row.before_ns) },
          { key: "after", title: "after", value: (row) => row.after_ns, cell: (row) => duration(row.after_ns) },
          { key: "size", title: "change", value: (row) => Math.abs(row.after_ns - row.before_ns), cell: (row) => <span class={row.after_ns < row.before_ns ? "good" : row.after_ns > row.before_ns ? "bad" : ""}>{signed(row.after_ns - row.before_ns)}</span> },
          { key: "share", title: "of the change", value: (row) => row.share, cell: (row) => percent(row.share) },
          { key: "line", title: "line", text: true, value: (row) => row.location?.file ?? null, cell: (row) => <Place at={row.location} /> },
        ]} />
    </Panel>
  );
}

function Runs({ runs }: { runs: ComparedRun[] }) {
  const rate = (run: ComparedRun) => (run.samples_per_s === null ? `${digits(run.per_s)} steps/s` : `${digits(run.samples_per_s)} samples/s`);
  return (
    <Panel title="The two runs">
      <table class="plain">
        <thead><tr><th scope="col" /><th scope="col">run</th><th class="number" scope="col">mean step</th><th class="number" scope="col">p10–p90</th><th class="number" scope="col">measured</th><th class="number" scope="col">throughput</th><th class="number" scope="col">peak memory</th></tr></thead>
        <tbody>
          {runs.map((run, index) => (
            <tr key={index}>
              <td>{index ? "after" : "before"}</td><td><Name text={run.run} /></td>
              <td class="number">{milliseconds(run.step_ms.mean)}</td>
              <td class="number">{spread(run.step_ms.p10, run.step_ms.p90)}</td>
              <td class="number">{count(run.steps)}{run.runs > 1 && ` in ${run.runs} runs`}</td><td class="number">{rate(run)}</td>
              <td class="number">{size(run.peak_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Comparison({ answer }: { answer: ComparisonAnswer }) {
  return (
    <>
      <div class="figures">
        <Figure label={answer.basis} value={times(answer.speedup)} note={between(answer.low, answer.high)} />
        {answer.cpu && <Figure label={answer.cpu.basis} value={times(answer.cpu.speedup)} note={between(answer.cpu.low, answer.cpu.high)} />}
        <Figure label="beyond noise" value={answer.significant ? "yes" : "no"} />
      </div>
      <Runs runs={answer.runs} />
      {answer.differences.length > 0 && (
        <Panel title="Not the same" class="notes">
          <ul>{answer.differences.map((each) => <li key={each.what}><strong>{visible(each.what)}</strong>: {visible(each.before)}, then {visible(each.after)}: {visible(each.effect)}</li>)}</ul>
        </Panel>
      )}
      {KINDS.map(([kind, title]) => <Changes key={kind} title={title} rows={answer.changes.filter((row) => row.what === kind)} />)}
      {answer.findings.length > 0 && (
        <Panel title="Findings">
          <ul class="signed">{answer.findings.map((each, index) => <li key={index}><span class={each.change === "gone" ? "good" : each.change === "new" ? "bad" : "faint"}>{SIGNS[each.change]}</span> {visible(each.title)} <span class="faint">{each.change}</span></li>)}</ul>
        </Panel>
      )}
    </>
  );
}

// In the viewer: the run before this one of the same script, unless another is chosen.
function Chosen({ run, runs }: Others) {
  const others = runs.filter((each) => each.id !== run);
  const mine = runs.findIndex((each) => each.id === run);
  const earlier = runs.slice(mine + 1).find((each) => each.script === runs[mine]?.script);
  const [before, setBefore] = useAsked<string>("before", (earlier ?? others[0])?.id ?? "");
  const [answer, setAnswer] = useState<ComparisonAnswer | string | null>(null);
  useEffect(() => {
    let gone = false;
    setAnswer(null);
    if (before) compared(before, run).then((found) => { if (!gone) setAnswer(found); }, (error: Error) => { if (!gone) setAnswer(error.message); });
    return () => { gone = true; };
  }, [before, run]);
  const choice = <Select label="before" value={before} options={others.map((each) => [each.id, each.name] as const)} onChange={setBefore} />;
  return (
    <Page title="Compare" note={answer && typeof answer !== "string" ? visible(answer.verdict) : undefined} actions={choice}>
      {answer === null ? <Empty>Comparing…</Empty> : typeof answer === "string" ? <Empty>{visible(answer)}</Empty> : <Comparison answer={answer} />}
    </Page>
  );
}

export function Compare({ content, others }: { content: Content; others: Others | null }) {
  if (content.compare) return <Page title="Compare" note={visible(content.compare.verdict)}><Comparison answer={content.compare} /></Page>;
  if (others && others.runs.length > 1) return <Chosen {...others} />;
  return (
    <Page title="Compare">
      <Empty>This report shows one run. <code>stepscope compare BEFORE AFTER --html FILE</code> says whether a change made it faster, by how much, how sure that is, and what made the difference.</Empty>
    </Page>
  );
}
