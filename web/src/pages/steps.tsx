// Every step: stacked by phase, with the outliers listed, and one step in detail.
import type { Content, StepColumns } from "../data";
import { count, counted, duration, milliseconds, percent, spread, times } from "../format";
import { change, useRoute } from "../route";
import { Swatch } from "../parts/bars";
import { Link, visible } from "../parts/links";
import { Empty, Figure, Page, Panel } from "../parts/panel";
import { ESTIMATED, Legend, StepBars, phaseOrder } from "../parts/step_bars";
import { Table } from "../parts/table";

function Opened({ content, steps, index }: { content: Content; steps: StepColumns; index: number }) {
  const order = phaseOrder(steps).filter((name) => steps.phases[name][index] > 0);
  const whole = steps.duration_ns[index] || 1;
  const means = new Map((content.summary.steps.breakdown ?? []).map((each) => [each.category, each.ms * 1e6]));
  const mean = (content.summary.steps.step_ms?.mean ?? 0) * 1e6;
  const shown = steps.start_ns[index] + (content.timeline?.main_ns ?? 0); // on the clock of the whole run
  const to = (at: number) => change({ step: steps.number[at] });
  return (
    <Panel class="step-details" title={steps.group > 1 ? `Steps ${steps.number[index]} to ${steps.number[index] + steps.group - 1}` : `Step ${steps.number[index]}`}
      actions={<>
        <button type="button" aria-label="The step before" disabled={index === 0} onClick={() => to(index - 1)}>◂</button>
        <button type="button" aria-label="The step after" disabled={index === steps.number.length - 1} onClick={() => to(index + 1)}>▸</button>
        <button type="button" aria-label="Close" onClick={() => change({ step: null })}>✕</button>
      </>}>
      <p>{duration(whole)}{mean > 0 && <span class="faint"> · {times(whole / mean)} the mean</span>}</p>
      <p class="faint">begins at {duration(shown)} · <Link page="timeline" query={{ from: Math.max(0, Math.round(shown - whole * 0.1)), to: Math.round(shown + whole * (steps.group + 0.1)) }}>on the timeline</Link></p>
      {!steps.measured[index] && <p class="faint">Not counted: it is warm-up, lies in an operator window, or was cut short.</p>}
      <table class="plain breakdown">
        <thead><tr><th scope="col">phase</th><th class="number" scope="col">time</th><th class="number" scope="col">share</th><th class="number" scope="col" title="against the mean step">± mean</th></tr></thead>
        <tbody>
          {order.map((name) => (
            <tr key={name}>
              <td><Swatch name={name} hatched={ESTIMATED.has(name)} /> {name}</td>
              <td class="number">{duration(steps.phases[name][index])}</td>
              <td class="number">{percent(steps.phases[name][index] / whole)}</td>
              <td class="number faint">{signed(steps.phases[name][index] - (means.get(name) ?? 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

const MOST_COLUMNS = 6; // the largest phases: more do not fit side by side
const signed = (ns: number) => (ns > 0 ? "+" : "") + duration(ns);
const orBlank = (ns: number) => (ns ? duration(ns) : ""); // most steps have no gc, and no evaluation

// What part of the steps is shown, in the address; one that reaches the last step moves on with a live run.
function useRange(steps: StepColumns | null): [[number, number], (range: [number, number]) => void] {
  const { query } = useRoute();
  const last = steps?.number.length ?? 0;
  const [from, to] = (query.range ?? "").split("-").map(Number);
  const wide = Number(query.last);
  const range: [number, number] = wide > 1 ? [Math.max(0, last - wide), last]
    : to > from && from >= 0 && from < last ? [from, Math.min(to, last)] : [0, last];
  const set = ([a, b]: [number, number]) => change(
    a <= 0 && b >= last ? { range: null, last: null } : b >= last ? { range: null, last: b - a } : { range: `${a}-${b}`, last: null }, true);
  return [range, set];
}

export function Steps({ content }: { content: Content }) {
  const { query } = useRoute();
  const steps = content.steps;
  const summary = content.summary.steps;
  const [range, setRange] = useRange(steps);
  if (!steps) return <Page title="Steps"><Empty>{visible(summary.reason ?? content.nothing.steps)}</Empty></Page>;
  const wanted = Number(query.step);
  const chosen = query.step ? steps.number.findIndex((each) => each <= wanted && wanted < each + steps.group) : -1;
  const stepQuery = (index: number) => ({ ...query, step: steps.number[index] });
  const choose = (index: number) => change({ step: steps.number[index] }, chosen >= 0);
  const whys = new Map((content.findings?.outliers ?? []).map((each) => [each.step + 1, each.why]));
  const zoomed = range[0] > 0 || range[1] < steps.number.length;
  const rows = steps.number.map((_, index) => index);
  const zero = content.timeline?.main_ns ?? 0;
  const rest = phaseOrder(steps).slice(MOST_COLUMNS);
  const restOf = (index: number) => rest.reduce((sum, name) => sum + steps.phases[name][index], 0);
  return (
    <Page title="Steps" note={<>{counted(summary.steps, "step")}: {count(summary.warmup)} warm-up, {count(summary.measured)} measured; from {visible(summary.anchor ?? "the script")}</>}>
      {summary.step_ms && (
        <div class="figures">
          <Figure label="mean" value={milliseconds(summary.step_ms.mean)} />
          <Figure label="median" value={milliseconds(summary.step_ms.median)} />
          <Figure label="p10–p90" value={spread(summary.step_ms.p10, summary.step_ms.p90)} />
          <Figure label="far slower than usual" value={count(steps.outliers.length)} />
        </div>
      )}
      <div class={chosen >= 0 ? "step-chart opened" : "step-chart"}>
        <Panel title="Time of each step" note="drag to zoom, click to open; dashed: the median"
          actions={<button type="button" disabled={!zoomed} onClick={() => setRange([0, steps.number.length])}>All steps</button>}>
          <StepBars steps={steps} height={chosen >= 0 ? 240 : 300} chosen={chosen} range={range} onRange={setRange} onChoose={choose} usual={summary.step_ms} />
          <div class="strip"><StepBars steps={steps} height={48} shown={range} chosen={chosen} onRange={setRange} onChoose={choose} /></div>
          <Legend steps={steps} />
          {steps.group > 1 && <p class="faint">There are {count(summary.steps)} steps: each bar is the mean of {count(steps.group)}.</p>}
        </Panel>
        {chosen >= 0 && <Opened content={content} steps={steps} index={chosen} />}
      </div>
      {steps.outliers.length > 0 && (
        <Panel title="Far slower than usual" note="and what grew most in them">
          <Table label="slow steps" rows={steps.outliers.map((index, at) => ({ index, why: steps.slow_phase[at] }))} sort="time" most={12}
            rowKey={(row) => String(row.index)} chosen={String(chosen)} link={(row) => ["steps", stepQuery(row.index)]}
            columns={[
              { key: "step", title: "step", value: (row) => steps.number[row.index] },
              { key: "time", title: "time", value: (row) => steps.duration_ns[row.index], cell: (row) => duration(steps.duration_ns[row.index]) },
              { key: "ratio", title: "× median", value: (row) => steps.duration_ns[row.index] / ((summary.step_ms?.median ?? 1) * 1e6), cell: (row) => times(steps.duration_ns[row.index] / ((summary.step_ms?.median ?? 1) * 1e6)) },
              { key: "why", title: "what grew most", text: true, fill: true, value: (row) => row.why, cell: (row) => <><Swatch name={row.why} /> {row.why}, {duration(steps.phases[row.why][row.index])} <span class="faint">{visible(whys.get(steps.number[row.index]) ?? "")}</span></> },
            ]} />
        </Panel>
      )}
      <Panel title="All steps">
        <Table label="steps" rows={rows} sort="step" upwards rowKey={(index) => String(index)} chosen={String(chosen)} link={(index) => ["steps", stepQuery(index)]} most={50}
          columns={[
            { key: "step", title: "step", value: (index) => steps.number[index] },
            { key: "start", title: "begins", value: (index) => steps.start_ns[index], cell: (index) => duration(steps.start_ns[index] + zero) },
            { key: "time", title: "time", value: (index) => steps.duration_ns[index], cell: (index) => duration(steps.duration_ns[index]) },
            ...phaseOrder(steps).slice(0, MOST_COLUMNS).map((name) => ({ key: name, title: name, value: (index: number) => steps.phases[name][index], cell: (index: number) => orBlank(steps.phases[name][index]) })),
            ...(rest.length ? [{ key: "rest", title: "rest", hint: rest.join(", "), value: restOf, cell: (index: number) => orBlank(restOf(index)) }] : []),
            { key: "measured", title: "counted", text: true, value: (index) => (steps.measured[index] ? "yes" : "no") },
          ]} />
      </Panel>
    </Page>
  );
}
