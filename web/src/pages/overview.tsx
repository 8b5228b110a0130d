// The first page: the verdict, what to change, the step, the whole run, and what was recorded.
import { useEffect } from "preact/hooks";
import { part } from "../colours";
import type { Content, Finding } from "../data";
import { between, count, counted, digits, duration, milliseconds, percent, processName, shortNames, size, spread } from "../format";
import { go, useRoute } from "../route";
import { Bar, Stacked, Swatch } from "../parts/bars";
import { Command, Link, Name, Place, Verdict, visible } from "../parts/links";
import { Empty, Figure, Notes, Panel } from "../parts/panel";
import { Patch, Snippet } from "../parts/snippet";
import { ESTIMATED, Legend, StepBars } from "../parts/step_bars";

function Figures({ content }: { content: Content }) {
  const { facts, timeline } = content, { steps, wall_ns, rank } = content.summary;
  const cost = steps.overhead;
  return (
    <div class="figures">
      {wall_ns > 0 && !facts.is_trace && <Figure label="whole run" value={duration(rank !== null && timeline ? timeline.whole_ns : wall_ns)} note={counted(content.summary.processes, "process", "processes")} />}
      {facts.is_trace && timeline && <Figure label="imported trace" value={duration(timeline.to_ns - timeline.from_ns)} note={counted(timeline.lanes.reduce((sum, each) => sum + each.spans, 0), "span")} />}
      {steps.step_ms && <Figure label="mean step" value={milliseconds(steps.step_ms.mean)} note={`median ${milliseconds(steps.step_ms.median)}`} />}
      {steps.step_ms && <Figure label="p10–p90 of a step" value={spread(steps.step_ms.p10, steps.step_ms.p90)} note={`${counted(steps.measured ?? 0, "step")} measured`} />}
      {steps.rate && <Figure label="throughput" value={<>{digits(steps.rate.per_s)} <span class="unit">steps/s</span></>}
        note={steps.rate.samples_per_s !== null ? `${digits(steps.rate.samples_per_s)} samples/s` : undefined} />}
      {cost && <Figure label="stepscope's own cost" value={<span class={cost.share > cost.budget ? "warn" : ""}>{percent(cost.share)}</span>}
        note={`budget ${percent(cost.budget)}`} />}
    </div>
  );
}

function Card({ content, finding }: { content: Content; finding: Finding }) {
  const { low, high } = finding.speedup; // without a high end, the words of the gain name the low one
  return (
    <article class={`card ${finding.severity}`} id={`finding-${finding.id}`}>
      <div class="card-gain">
        <strong class={(finding.gain ?? "").length > 7 ? "long" : ""}>{finding.gain ?? "–"}</strong>
        {finding.gain && <span class="faint">{finding.measured ? "faster, measured" : "faster"}</span>}
        {finding.gain && high !== null && <small class="faint">{between(low, high)}</small>}
      </div>
      <div class="card-body">
        <h3><Name text={finding.title} /></h3>
        <p class="faint">
          <span class={`tag ${finding.severity}`}>severity: {finding.severity}</span> <code>{finding.id}</code>
          {finding.location && <> · <Place at={finding.location} />{finding.location.function && <> in <Link page="functions" query={{ function: finding.location.function, file: finding.location.file }}><Name text={finding.location.function} /></Link></>}</>}
          {finding.process && finding.process.role !== "main" && <> · {processName(finding.process)}</>}
          {finding.confidence && <> · confidence: {visible(finding.confidence)}</>}
        </p>
        {finding.evidence.length > 0 && <ul>{finding.evidence.map((each) => <li key={each}>{visible(each)}</li>)}</ul>}
        {finding.library && !finding.evidence.some((each) => each.includes(finding.library!)) && <p class="faint">Most of it is in <Name text={finding.library} />.</p>}
        {finding.fix && <p class="fix">{visible(finding.fix)}</p>}
        {finding.patch ? <Patch text={finding.patch} /> : <Snippet content={content} at={finding.location} text={finding.source} />}
        {finding.then && <p class="faint">{visible(finding.then)}</p>}
        {finding.trial && content.can_try && <p class="faint">To measure it without editing anything: <code>stepscope try</code> ({visible(finding.trial)})</p>}
      </div>
    </article>
  );
}

function FindingCards({ content }: { content: Content }) {
  const answer = content.findings;
  const { query } = useRoute();
  useEffect(() => { if (query.finding) document.getElementById(`finding-${query.finding}`)?.scrollIntoView({ block: "start" }); }, [query.finding]);
  if (!answer) return null;
  return (
    <Panel title="What to change" note={answer.findings.length ? `${counted(answer.findings.length, "finding")}, the largest gain first` : undefined}>
      {answer.findings.map((each, index) => <Card key={`${each.id}-${index}`} content={content} finding={each} />)}
      {!answer.findings.length && <Empty>Nothing stands out: no known change would make a real difference here.</Empty>}
      {answer.not_judged.length > 0 && (
        <details><summary>{counted(answer.not_judged.length, "check")} did not apply</summary>
          <ul>{answer.not_judged.map((each) => <li key={each.id}><code>{visible(each.id)}</code>: {visible(each.reason)}</li>)}</ul>
        </details>
      )}
    </Panel>
  );
}

function StepPanel({ content }: { content: Content }) {
  const { steps } = content.summary;
  if (!steps.breakdown) return <Panel title="The step"><Empty>{visible(steps.reason ?? content.nothing.steps)}</Empty></Panel>;
  const parts = steps.breakdown.filter((each) => each.share >= content.least_share || each.device_ms);
  const device = parts.some((each) => each.device_ms !== null);
  return (
    <Panel title="The mean step" note={steps.anchor ? <>from {visible(steps.anchor)}</> : undefined}>
      <Stacked label="What the mean step consists of" parts={parts.map((each) => ({ name: each.category, share: each.share, text: milliseconds(each.ms), hatched: ESTIMATED.has(each.category) }))} />
      <table class="plain breakdown">
        <thead><tr><th scope="col">phase</th><th scope="col" /><th class="number" scope="col">time</th>{device && <th class="number" scope="col">on device</th>}<th class="number" scope="col">share</th></tr></thead>
        <tbody>
          {parts.map((each) => (
            <tr key={each.category}>
              <td><Swatch name={each.category} hatched={ESTIMATED.has(each.category)} /> {each.category}</td>
              <td class="faint">{content.words[each.category] ?? ""}</td>
              <td class="number">{milliseconds(each.ms)}</td>
              {device && <td class="number">{milliseconds(each.device_ms)}</td>}
              <td class="number">{percent(each.share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function RunPanel({ content }: { content: Content }) {
  const { rank } = content.summary;
  const parts = content.summary.parts.filter((each) => each.share >= content.least_share);
  return (
    <Panel title={rank === null ? "The whole run" : `Rank ${rank}`} note={duration(content.summary.wall_ns)}>
      <Stacked label="What the whole run consists of" colours={part} parts={parts.map((each) => ({ name: each.category, share: each.share, text: duration(each.ns) }))} />
      <table class="plain breakdown">
        <thead><tr><th scope="col">part</th><th class="number" scope="col">time</th><th class="number" scope="col">share</th></tr></thead>
        <tbody>
          {parts.map((each) => (
            <tr key={each.category}><td><Swatch name={each.category} colours={part} /> {each.category}</td><td class="number">{duration(each.ns)}</td><td class="number">{percent(each.share)}</td></tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Hottest({ content }: { content: Content }) {
  const { hottest_ns, hottest_source, wall_ns } = content.summary;
  const hottest = content.summary.hottest.map((each, index) => ({ ...each, ns: hottest_ns[index], source: hottest_source[index] }))
    .filter((each) => each.ns >= content.least_line_share * wall_ns);
  const short = shortNames(hottest.map((each) => each.file));
  return (
    <Panel title="Hottest lines" note="including what they call">
      {!hottest.length && <Empty>No line takes a notable share of the run.</Empty>}
      <table class="plain hottest">
        <tbody>
          {hottest.map((each, index) => (
            <tr key={index}>
              <td class="number">{duration(each.ns)}</td>
              <td class="number faint">{percent(each.ns / (wall_ns || 1))}</td>
              <td class="bar-cell"><Bar share={each.ns / (wall_ns || 1)} /></td>
              <td><Place at={each} short={short} /></td>
              <td class="faint"><Name text={each.function} /></td>
              <td class="wide"><code>{visible((each.source ?? "").trim())}</code></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function RecordedPanel({ content }: { content: Content }) {
  const { facts, summary } = content;
  const thinned = summary.steps.overhead?.thinned ?? [];
  const machine = [facts.host, facts.cpu, facts.cores ? counted(facts.cores, "core") : null, facts.memory_bytes ? size(facts.memory_bytes) : null].filter(Boolean).join(" · ");
  const versions = Object.entries(facts.versions).filter(([, value]) => typeof value === "string").map(([name, value]) => `${name} ${value}`).join(" · ");
  return (
    <Panel title="Data recorded">
      <table class="plain recorded">
        <tbody>
          {content.recorded.map((each) => (
            <tr key={each.what}>
              <td>{each.is_there ? <span class="yes" title="recorded">●</span> : <span class="no" title="not recorded">○</span>} {each.what}</td>
              <td class={each.is_there ? "" : "faint"}>{each.text}</td>
            </tr>
          ))}
          {thinned.length > 0 && <tr><td><span class="no">◐</span> thinned out</td><td class="faint">{thinned.map(visible).join(", ")}</td></tr>}
          {machine && <tr><td>machine</td><td class="faint">{visible(machine)}</td></tr>}
          {versions && <tr><td>versions</td><td class="faint">{visible(versions)}</td></tr>}
          {facts.git && <tr><td>git</td><td class="faint">{visible(`${String(facts.git.commit ?? "").slice(0, 12)}${facts.git.dirty ? ", with changes" : ""}`)}</td></tr>}
        </tbody>
      </table>
    </Panel>
  );
}

function NextPanel({ content }: { content: Content }) {
  return (
    <Panel title="Next" note="to type in a terminal">
      <table class="plain next">
        <tbody>{content.next.map((each) => <tr key={each.command}><td class="faint">{each.words}</td><td class="wide"><Command text={each.command} /></td></tr>)}</tbody>
      </table>
    </Panel>
  );
}

const UNKNOWN = "1970-01-01T"; // some files do not say when

export function Overview({ content }: { content: Content }) {
  const notes = [...content.trouble, ...(content.findings?.notes ?? []), ...content.summary.notes, ...content.reduced].filter((each, index, all) => all.indexOf(each) === index);
  return (
    <div class="page overview">
      <header class="page-head">
        <p class="command"><Command text={content.summary.command.join(" ")} /></p>
        <h1 class="verdict"><Verdict text={content.verdict} /></h1>
        <p class="faint">{visible(content.summary.ending.words)}{!content.summary.started.startsWith(UNKNOWN) && <> · started {content.summary.started.slice(0, 16).replace("T", " ")}</>}{content.facts.host && <> · on <Name text={content.facts.host} /></>}</p>
      </header>
      <Figures content={content} />
      <FindingCards content={content} />
      <div class={content.summary.wall_ns > 0 ? "columns two" : "columns"}>
        <StepPanel content={content} />
        {content.summary.wall_ns > 0 && <RunPanel content={content} />}
      </div>
      {content.steps && (
        <Panel title="Every step" note={<>{counted(content.summary.steps.steps, "step")} · {count(content.summary.steps.warmup)} warm-up · {count(content.summary.steps.measured)} measured</>}
          actions={<Link page="steps">All about the steps</Link>}>
          <StepBars steps={content.steps} height={190} usual={content.summary.steps.step_ms}
            onChoose={(index) => go("steps", { step: content.steps!.number[index] })} />
          <Legend steps={content.steps} />
        </Panel>
      )}
      {!content.facts.is_trace && <Hottest content={content} />}
      <div class="columns two uneven">
        <RecordedPanel content={content} />
        <div class="stack"><NextPanel content={content} /><Notes notes={notes} /></div>
      </div>
    </div>
  );
}

