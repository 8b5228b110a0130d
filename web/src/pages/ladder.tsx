// The ladder of `stepscope try`: throughput rung by rung, and the changes to make by hand.
import type { Content, Rung, TrialAnswer } from "../data";
import { between, count, digits, duration, times } from "../format";
import { Name, visible } from "../parts/links";
import { Empty, Figure, Notes, Page, Panel } from "../parts/panel";
import { Patch } from "../parts/snippet";

const range = (low: number | null, high: number | null) => (low === null ? "" : high === null ? `at least ${times(low)}` : between(low, high));

function Climb({ answer }: { answer: TrialAnswer }) {
  const measured = answer.rungs.filter((rung) => rung.step_ms);
  const fastest = Math.min(answer.baseline.step_ms, ...measured.map((rung) => rung.step_ms!));
  const row = (name: string, step_ms: number, status: string, rung: Rung | null) => (
    <tr key={name} class={status}>
      <td>{status === "kept" ? "+ " : ""}<Name text={name} /></td>
      <td class="wide"><span class={`rung ${status}`} style={{ width: `${100 * fastest / step_ms}%` }} /></td>
      <td class="number">{digits(1000 / step_ms)}</td>
      <td class="number">{rung && times(rung.speedup)} <small class="faint">{rung && range(rung.low, rung.high)}</small></td>
      <td class="number">{rung?.predicted && rung.predicted.high !== null && times(rung.predicted.expected)} <small class="faint">{rung?.predicted && range(rung.predicted.low, rung.predicted.high)}</small></td>
    </tr>
  );
  return (
    <Panel title="Throughput, rung by rung" note={answer.noise ? `the script against itself: ${between(answer.noise.low, answer.noise.high)}` : undefined}>
      <table class="plain breakdown ladder">
        <thead><tr><th scope="col">fix</th><th scope="col" class="wide" /><th class="number" scope="col">steps/s</th><th class="number" scope="col">measured</th><th class="number" scope="col">predicted</th></tr></thead>
        <tbody>{row("as it is", answer.baseline.step_ms, "baseline", null)}{measured.map((rung) => row(rung.fix ?? rung.title, rung.step_ms!, rung.status, rung))}</tbody>
      </table>
    </Panel>
  );
}

function Losses({ rungs }: { rungs: Rung[] }) {
  const checked = rungs.filter((rung) => rung.loss);
  if (!checked.length) return null;
  return (
    <Panel title="Losses" note="with each fix, beside those without it">
      <table class="plain"><tbody>{checked.map((rung) => <tr key={rung.fix}><td><Name text={rung.fix ?? rung.title} /></td><td>{visible(rung.loss!.words)}</td></tr>)}</tbody></table>
    </Panel>
  );
}

function Patches({ rungs }: { rungs: Rung[] }) {
  const kept = rungs.filter((rung) => rung.status === "kept" && rung.patch);
  if (!kept.length) return null;
  return (
    <Panel title="To write by hand">
      {kept.map((rung) => <div key={rung.fix}><h3>{visible(rung.title)} <code>{visible(rung.what ?? "")}</code></h3><Patch text={rung.patch!} /></div>)}
    </Panel>
  );
}

export function Ladder({ content }: { content: Content }) {
  const answer = content.trial;
  if (!answer) {
    return <Page title="Try"><Empty>No fix was tried in this report. <code>stepscope try SCRIPT</code> applies each fix without editing the script and measures what it gains.</Empty></Page>;
  }
  const kept = answer.rungs.filter((rung) => rung.status === "kept");
  const others = answer.rungs.filter((rung) => rung.status !== "kept");
  return (
    <Page title="Try" note={visible(`As it is: ${answer.baseline.verdict}`)}>
      <div class="figures">
        <Figure label="as fast with what was kept" value={times(answer.gained)} />
        <Figure label="fixes kept" value={`${kept.length} of ${answer.rungs.length}`} />
        <Figure label="runs" value={count(answer.runs)} note={answer.step_seconds ? `${duration(answer.seconds * 1e9)}, of which ${duration(answer.step_seconds * 1e9)} in steps` : duration(answer.seconds * 1e9)} />
      </div>
      <Climb answer={answer} />
      <Losses rungs={answer.rungs} />
      {others.length > 0 && (
        <Panel title="Not kept">
          <table class="plain"><tbody>{others.map((rung, index) => (
            <tr key={index}><td><Name text={rung.fix ?? rung.finding ?? ""} /></td><td class="faint">{rung.is_ceiling && rung.speedup !== null ? "ceiling" : rung.status}</td><td>{visible(rung.ceiling !== null ? (rung.reason ?? "").replace(/\.$/, "") : rung.reason ?? "")}{rung.ceiling !== null && ` (at most ${times(rung.ceiling)}, computed)`}</td></tr>
          ))}</tbody></table>
        </Panel>
      )}
      <Patches rungs={answer.rungs} />
      <Notes notes={answer.notes} />
    </Page>
  );
}
