// Whether the steps wait for their batches, where the time to load one goes, and what the limit is.
import type { Content, InputFunction, InputLine, StageRow } from "../data";
import { count, digits, milliseconds, percent, processName, sentence, shortNames } from "../format";
import { Bar } from "../parts/bars";
import { Name, Place, visible } from "../parts/links";
import { Empty, Figure, Notes, Page, Panel } from "../parts/panel";

function Stages({ rows }: { rows: StageRow[] }) {
  return (
    <Panel title="Stages" note="where a batch spends its time">
      <table class="plain breakdown"><thead><tr><th scope="col">stage</th><th scope="col">process</th><th scope="col" class="wide" /><th scope="col" class="number">per batch</th><th scope="col" class="number">share</th></tr></thead>
        <tbody>{rows.map((each, index) => <tr key={index}><td><Name text={each.stage} /></td><td class="faint">{processName(each.process)}</td><td class="wide"><Bar share={each.share} /></td><td class="number">{milliseconds(each.ms_per_batch)}</td><td class="number">{percent(each.share)}</td></tr>)}</tbody></table>
    </Panel>
  );
}

function Libraries({ rows }: { rows: InputFunction[] }) {
  return (
    <Panel title="Libraries" note="that loading calls">
      <table class="plain"><tbody>{rows.map((each, index) => <tr key={index}><td class="wide" title={visible(each.file)}><Name text={each.function} /></td><td class="bar-cell"><Bar share={each.share} /></td><td class="number">{percent(each.share)}</td></tr>)}</tbody></table>
    </Panel>
  );
}

function Lines({ rows }: { rows: InputLine[] }) {
  const short = shortNames(rows.map((each) => each.file));
  return (
    <Panel title="Lines that load" note="including what they call">
      <table class="plain"><thead><tr><th scope="col">line</th><th scope="col">in</th><th scope="col" /><th scope="col" class="number">per batch</th><th scope="col" class="number">share</th><th scope="col" class="wide">source</th></tr></thead><tbody>{rows.map((each, index) => <tr key={index}><td><Place at={each} short={short} /></td><td class="faint"><Name text={each.function} /></td><td class="bar-cell"><Bar share={each.share} /></td><td class="number">{milliseconds(each.ms_per_batch)}</td><td class="number">{percent(each.share)}</td><td class="wide"><code>{visible((each.source ?? "").trim())}</code></td></tr>)}</tbody></table>
    </Panel>
  );
}

export function Input({ content }: { content: Content }) {
  const answer = content.input;
  if (!answer?.loader) return <Page title="Input"><Empty>{visible(answer?.reason ?? content.nothing.input)}</Empty></Page>;
  const { loader } = answer;
  return (
    <Page title="Input" note={answer.limit === "nothing" ? "Fast enough" : answer.limited_by ? `Limited by ${answer.limited_by}` : undefined}>
      {answer.why && <p class="lead">{sentence(visible(answer.why))}</p>}
      <div class="figures">
        <Figure label="waiting in a step" value={milliseconds(loader.wait_ms)} note={`${percent(loader.share)} of the step`} />
        <Figure label="steps that waited" value={count(loader.steps_that_waited)} note={`of ${count(loader.steps)}; longest ${milliseconds(loader.longest_ms)}`} />
        {loader.workers !== null && <Figure label="workers" value={count(loader.workers)} note={answer.busy !== null ? `busy ${percent(answer.busy)} of their time` : undefined} />}
        {loader.batch_size !== null && <Figure label="batch" value={count(loader.batch_size)} note={loader.batch_size === 1 ? "sample" : "samples"} />}
        {answer.cores !== null && <Figure label="idle cores" value={answer.idle_cores === null ? "–" : digits(answer.idle_cores)} note={`of ${count(answer.cores)}`} />}
        {answer.start_up_ms !== null && <Figure label="start-up" value={milliseconds(answer.start_up_ms)} note="to the first batch" />}
      </div>
      {answer.stages.length + answer.library.length > 0 && (
        <div class={answer.stages.length && answer.library.length ? "columns two" : "columns"}>
          {answer.stages.length > 0 && <Stages rows={answer.stages} />}
          {answer.library.length > 0 && <Libraries rows={answer.library} />}
        </div>
      )}
      {answer.operations.length > 0 && (
        <Panel title="Operations in the pipeline" note="their own time">
          <table class="plain"><thead><tr><th scope="col">operation</th><th scope="col" /><th scope="col" class="number">calls</th><th scope="col" class="number">per batch</th><th scope="col" class="number">share</th></tr></thead><tbody>{answer.operations.slice(0, 20).map((each, index) => <tr key={index}><td class="wide"><Name text={each.stage} /></td><td class="bar-cell"><Bar share={each.share} /></td><td class="number">{count(each.calls)}</td><td class="number">{milliseconds(each.ms_per_batch)}</td><td class="number">{percent(each.share)}</td></tr>)}</tbody></table>
        </Panel>
      )}
      {answer.lines.length > 0 && <Lines rows={answer.lines} />}
      <Notes notes={answer.notes} />
    </Page>
  );
}
