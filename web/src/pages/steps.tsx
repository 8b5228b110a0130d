// Every step: stacked by phase, with the outliers listed, and one step in detail.
import { useState } from "preact/hooks";
import type { Content, StepColumns } from "../data";
import { count, duration, milliseconds, percent } from "../format";
import { go, useRoute } from "../route";
import { Bar, Swatch } from "../parts/bars";
import { Link, visible } from "../parts/links";
import { Empty, Figure, Page, Panel } from "../parts/panel";
import { ESTIMATED, Legend, StepBars, phaseOrder } from "../parts/step_bars";
import { Table } from "../parts/table";
import { phase } from "../colours";

function Opened({ content, steps, index }: { content: Content; steps: StepColumns; index: number }) {
  const order = phaseOrder(steps);
  const whole = steps.duration_ns[index] || 1;
  const means = new Map((content.summary.steps.breakdown ?? []).map((each) => [each.category, each.ms * 1e6]));
  const mean = (content.summary.steps.step_ms?.mean ?? 0) * 1e6;
  const from = steps.start_ns[index];
  const shown = from + (content.timeline?.main_ns ?? 0);
  return (
    <Panel title={steps.group > 1 ? `Steps ${steps.number[index]} to ${steps.number[index] + steps.group - 1}` : `Step ${steps.number[index]}`}
      note={`${duration(whole)}, ${duration(from)} after recording began${mean ? `, ${(whole / mean).toFixed(2)}× the mean` : ""}`}
      actions={<>
        <button type="button" disabled={index === 0} onClick={() => go("steps", { step: steps.number[index - 1] }, true)}>◂ before</button>
        <button type="button" disabled={index === steps.number.length - 1} onClick={() => go("steps", { step: steps.number[index + 1] }, true)}>after ▸</button>
        <Link page="timeline" query={{ from: Math.max(0, Math.round(shown - whole * 0.1)), to: Math.round(shown + whole * (steps.group + 0.1)) }}>On the timeline</Link>
      </>}>
      {!steps.measured[index] && <p class="faint">It is not counted: it belongs to the warm-up or to an operator window, or was left early.</p>}
      <table class="plain breakdown">
        <thead><tr><th scope="col">phase</th><th scope="col" class="wide" /><th class="number" scope="col">time</th><th class="number" scope="col">share</th><th class="number" scope="col">typical step</th><th class="number" scope="col">more than that</th></tr></thead>
        <tbody>
          {order.map((name) => (
            <tr key={name}>
              <td><Swatch name={name} hatched={ESTIMATED.has(name)} /> {name}</td>
              <td class="wide"><Bar share={steps.phases[name][index] / whole} colour={phase(name)} /></td>
              <td class="number">{duration(steps.phases[name][index])}</td>
              <td class="number">{percent(steps.phases[name][index] / whole)}</td>
              <td class="number faint">{duration(means.get(name) ?? 0)}</td>
              <td class="number">{duration(steps.phases[name][index] - (means.get(name) ?? 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

export function Steps({ content }: { content: Content }) {
  const { query } = useRoute();
  const steps = content.steps;
  const summary = content.summary.steps;
  const [range, setRange] = useState<[number, number]>([0, steps?.number.length ?? 0]);
  if (!steps) return <Page title="Steps"><Empty>{visible(summary.reason ?? content.nothing.steps)}</Empty></Page>;
  const wanted = Number(query.step);
  const chosen = query.step ? steps.number.findIndex((each) => each <= wanted && wanted < each + steps.group) : -1;
  const choose = (index: number) => go("steps", { step: steps.number[index] }, true);
  const whys = new Map((content.findings?.outliers ?? []).map((each) => [each.step + 1, each.why]));
  const zoomed = range[0] > 0 || range[1] < steps.number.length;
  const rows = steps.number.map((_, index) => index);
  return (
    <Page title="Steps" note={<>{count(summary.steps)} steps from {visible(summary.anchor ?? "the script")}: {count(summary.warmup)} warm-up, {count(summary.measured)} measured</>}>
      {summary.step_ms && (
        <div class="figures">
          <Figure label="mean" value={milliseconds(summary.step_ms.mean)} />
          <Figure label="median" value={milliseconds(summary.step_ms.median)} />
          <Figure label="8 in 10 from" value={milliseconds(summary.step_ms.p10)} />
          <Figure label="to" value={milliseconds(summary.step_ms.p90)} />
          <Figure label="far slower than usual" value={count(steps.outliers.length)} />
        </div>
      )}
      <Panel title="Time of each step" note="drag to zoom, click to open; dashed: the median"
        actions={<button type="button" disabled={!zoomed} onClick={() => setRange([0, steps.number.length])}>All steps</button>}>
        <StepBars steps={steps} height={320} chosen={chosen} range={range} onRange={setRange} onChoose={choose} usual={summary.step_ms} />
        <div class="strip"><StepBars steps={steps} height={56} shown={range} chosen={chosen} onRange={setRange} onChoose={choose} /></div>
        <Legend steps={steps} />
        {steps.group > 1 && <p class="faint">There are {count(summary.steps)} steps: a bar is the mean of {steps.group}.</p>}
      </Panel>
      {chosen >= 0 && <Opened content={content} steps={steps} index={chosen} />}
      {steps.outliers.length > 0 && (
        <Panel title="Far slower than usual" note="and what grew most in them">
          <Table label="slow steps" rows={steps.outliers.map((index, at) => ({ index, why: steps.slow_phase[at] }))} sort="time" most={12}
            rowKey={(row) => String(row.index)} chosen={String(chosen)} onRow={(row) => choose(row.index)}
            columns={[
              { key: "step", title: "step", value: (row) => steps.number[row.index] },
              { key: "time", title: "time", value: (row) => steps.duration_ns[row.index], cell: (row) => duration(steps.duration_ns[row.index]) },
              { key: "ratio", title: "× median", value: (row) => steps.duration_ns[row.index] / ((summary.step_ms?.median ?? 1) * 1e6), cell: (row) => `${(steps.duration_ns[row.index] / ((summary.step_ms?.median ?? 1) * 1e6)).toFixed(1)}×` },
              { key: "why", title: "what grew most", text: true, wide: true, value: (row) => row.why, cell: (row) => <><Swatch name={row.why} /> {row.why}, {duration(steps.phases[row.why][row.index])} <span class="faint">{visible(whys.get(steps.number[row.index]) ?? "")}</span></> },
            ]} />
        </Panel>
      )}
      <Panel title="All steps">
        <Table label="steps" rows={rows} sort="step" upwards rowKey={(index) => String(index)} chosen={String(chosen)} onRow={choose} most={50}
          columns={[
            { key: "step", title: "step", value: (index) => steps.number[index] },
            { key: "start", title: "begins", value: (index) => steps.start_ns[index], cell: (index) => duration(steps.start_ns[index]) },
            { key: "time", title: "time", value: (index) => steps.duration_ns[index], cell: (index) => duration(steps.duration_ns[index]) },
            ...phaseOrder(steps).map((name) => ({ key: name, title: name, value: (index: number) => steps.phases[name][index], cell: (index: number) => duration(steps.phases[name][index]) })),
            { key: "measured", title: "counted", text: true, value: (index) => (steps.measured[index] ? "yes" : "no") },
          ]} />
      </Panel>
    </Page>
  );
}
