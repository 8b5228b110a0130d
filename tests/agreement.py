"""Whether all views of a run say the same: each figure that appears twice is compared.

`disagreements` renders every view (its record, its text on the terminal, the page's content) and
says what differs. What a finding claims as a whole is compared with the row that it is about.
"""

import dataclasses
import functools
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.console import Console

from stepscope.advise.rules.slow_outlier_steps import MOST_SHOWN
from stepscope.analyze.answers.headline import headline
from stepscope.analyze.answers.run_list import keep_figures, run_entry
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.run import load
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.model import StepsAnswer
from stepscope.model.categories import LEAST_SHARE, OUTLIERS
from stepscope.model.findings import Finding
from stepscope.show.report.content import content
from stepscope.show.terminal.drawing.numbers import duration, milliseconds, percent
from stepscope.store.format import SpanCategory
from stepscope.store.reader import Run
from stepscope.views import VIEWS

ROUNDING = 1e-6  # of a figure: sums of integers against means of floats
# Findings that claim all of a category, and those that claim a part of it.
WHOLE = {
    "checkpoint-stall": "checkpoint",
    "evaluation-stall": "evaluation",
    "gc-pressure": "gc",
    "logging-stall": "logging",
    "recompilation": "compile",
}
PARTS = {
    "repeated-load": ("files", "input"),
    "slow-outlier-steps": (OUTLIERS,),
    "exposed-communication": ("communication",),
}
OF_SOMETHING = re.compile(r"(\d+) % of (step time)")
PAGE_WIDTH = 110


@dataclasses.dataclass(frozen=True)
class Views:
    """All that is shown about one run."""

    path: Path

    @functools.cached_property
    def run(self) -> Run:
        return load(self.path)

    @functools.cached_property
    def answers(self) -> dict[str, Any]:
        return {name: view.plain(self.run) for name, view in VIEWS.items()}

    @functools.cached_property
    def each(self) -> list[Any]:
        found = VIEWS["steps"].ask(self.run, each=True).each
        return found if isinstance(found, list) else []

    @functools.cached_property
    def page(self) -> Any:
        return content(self.run)

    def text(self, name: str) -> str:
        """What the terminal shows, in one line."""
        view, out = VIEWS[name], io.StringIO()
        beside = {other: self.answers[other] for other in view.drawn_beside}
        Console(file=out, width=PAGE_WIDTH).print(view.draw(self.answers[name], {}, **beside))
        return out.getvalue()

    @functools.cached_property
    def steps(self) -> StepsAnswer:
        found: StepsAnswer = VIEWS["steps"].ask(self.run)
        return found

    @functools.cached_property
    def shares(self) -> dict[str, float]:
        return {each.category: each.share for each in self.steps.breakdown or []}

    @property
    def findings(self) -> list[Finding]:
        found: list[Finding] = self.answers["findings"].findings
        return found


def disagreements(path: Path) -> list[str]:
    """In words; empty if all views of the run say the same."""
    views = Views(path)
    return [f"{check.__name__[1:]}: {words}" for check in CHECKS for words in check(views)]


def _near(one: float | None, other: float | None, within: float = ROUNDING) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= within * max(1.0, abs(one), abs(other))


# --- the steps ------------------------------------------------------------------------------------


def _summary_and_page_have_the_same_steps(views: Views) -> Iterator[str]:
    told = {
        "summary": views.answers["summary"].steps,
        "page": views.page.summary.steps,
    }
    for where, steps in told.items():
        if msgspec.json.encode(steps) != msgspec.json.encode(views.steps):
            yield f"the steps of the {where} are not those of `show steps`"


def _the_breakdown_sums_to_the_mean_step(views: Views) -> Iterator[str]:
    steps = views.steps
    if not steps.breakdown or steps.step_ms is None:
        return
    total = sum(each.ms for each in steps.breakdown)
    if not _near(total, steps.step_ms.mean):
        yield f"{total} ms in the categories, {steps.step_ms.mean} ms in the mean step"
    if not _near(sum(views.shares.values()), 1.0):
        yield f"the shares sum to {sum(views.shares.values())}"


def _the_single_steps_make_the_mean(views: Views) -> Iterator[str]:
    measured = [step for step in views.each if step.measured]
    steps = views.steps
    if len(views.each) != steps.steps or len(measured) != (steps.measured or 0):
        yield f"{len(measured)} of {len(views.each)} are measured one by one, {steps.measured} "
    if measured and steps.step_ms is not None:
        mean_ms = float(np.mean([step.duration_ns for step in measured])) / 1e6
        if not _near(mean_ms, steps.step_ms.mean):
            yield f"mean {mean_ms} ms one by one, {steps.step_ms.mean} ms together"
    for step in measured:
        if sum(step.phases.values()) != step.duration_ns:
            yield f"step {step.number}: its phases sum to {sum(step.phases.values())} ns"


def _the_page_draws_these_steps(views: Views) -> Iterator[str]:
    columns, steps = views.page.steps, views.steps
    if columns is None or columns.group > 1:
        return
    if len(columns.number) != steps.steps or sum(columns.measured) != steps.measured:
        yield f"{len(columns.number)} steps drawn, {steps.steps} counted"
    if [step.duration_ns for step in views.each] != columns.duration_ns:
        yield "the durations that are drawn are not those of `show steps --each`"
    slow = [columns.number[index] for index in columns.outliers]
    told = [each.number for each in views.answers["findings"].outliers]
    is_cut = len(told) < len(slow) and len(told) == MOST_SHOWN
    if told and (not set(told) <= set(slow) if is_cut else sorted(told) != sorted(slow)):
        yield f"slow steps {slow} on the page, {told} in the findings"


def _the_terminal_prints_these_figures(views: Views) -> Iterator[str]:
    steps = views.steps
    for name in ("steps", "summary"):
        lines = [line.split() for line in views.text(name).splitlines()]
        text = " ".join(" ".join(words) for words in lines)
        if steps.step_ms is not None and milliseconds(steps.step_ms.mean) not in text:
            yield f"`show {name}` has no {milliseconds(steps.step_ms.mean)}"
        if steps.steps and f"{steps.measured or 0:,} measured" not in text:
            yield f"`show {name}` does not count {steps.measured} measured steps"
        for category, share in views.shares.items():
            rows = [words for words in lines if words[:1] == [category] and words[-1] == "%"]
            if share >= LEAST_SHARE and percent(share).split() not in [row[-2:] for row in rows]:
                yield f"`show {name}` has no {percent(share)} for {category}: {rows}"


# --- findings -------------------------------------------------------------------------------------


def _the_verdict_has_the_share_of_the_first_finding(views: Views) -> Iterator[str]:
    found = OF_SOMETHING.match(views.answers["findings"].verdict)
    if not views.findings or found is None:
        return
    share = min(1.0, views.findings[0].share)
    if f"{100 * share:.0f}" != found[1]:
        yield f"{found[0]} in the verdict, {share} in the finding"


def _every_view_begins_with_the_same_sentence(views: Views) -> Iterator[str]:
    advice = views.answers["findings"]
    said = headline(views.answers["summary"], advice)
    if views.page.verdict != said.sentence:
        yield f"the page begins with {views.page.verdict!r}, not with {said.sentence!r}"
    if views.page.findings != advice:
        yield "the page's findings are not those of `show findings`"
    if said.about == "findings":
        for name in ("summary", "findings"):
            if said.words not in " ".join(views.text(name).split()):
                yield f"`show {name}` does not say {said.words!r}"


def _a_finding_has_the_share_of_its_category(views: Views) -> Iterator[str]:
    for finding in views.findings:
        category = WHOLE.get(finding.id)
        if category is None or finding.measured:
            continue
        told = sum(each.share for each in views.findings if each.id == finding.id)
        row = views.shares.get(category, 0.0)
        is_part = category == "logging" and _logs_as_usual(views)
        if told > row + 0.005 or (told < row - 0.005 and not is_part):
            yield f"{told:.3f} of {finding.id}, {row:.3f} of {category}"


def _logs_as_usual(views: Views) -> bool:
    """With a trainer's `self.log`, which is not a fault on its own."""
    names = views.run.main.names.spans.values() if views.run.main else []
    return any(each.name.startswith("self.log") for each in names)


def _what_keeps_its_name_is_the_sum_of_the_steps(views: Views) -> Iterator[str]:
    """Logging, saving, evaluating and compiling, also in slow steps."""
    measured = [step for step in views.each if step.measured]
    whole = sum(step.duration_ns for step in measured)
    if not whole or views.steps.without_core:  # that is taken off in the breakdown
        return
    for category in WHOLE.values():
        told = sum(step.phases.get(category, 0) for step in measured) / whole
        row = views.shares.get(category, 0.0)
        if category != "gc" and not _near(told, row, within=0.005):
            yield f"{told} of {category} in the steps, {row} in the breakdown"


def _no_more_steps_are_behind_a_finding_than_were_measured(views: Views) -> Iterator[str]:
    for finding in views.findings:
        for told in re.findall(r"([\d,]+) measured steps?", finding.confidence):
            if int(told.replace(",", "")) > (views.steps.measured or 0):
                yield f"{finding.confidence!r}, but {views.steps.measured} were measured"


def _the_devices_time_is_its_parts(views: Views) -> Iterator[str]:
    for row in views.answers["device"].ranks:
        if row.busy_ns + row.idle_ns != row.wall_ns:
            yield f"{row.busy_ns} busy and {row.idle_ns} idle of {row.wall_ns} ns"
        parts = row.compute_ns + row.exposed_communication_ns
        if parts > row.busy_ns:
            yield f"{row.compute_ns} ns of compute, {row.busy_ns} ns busy"
        idle = row.idle.host_wait_ns + row.idle.kernel_wait_ns + row.idle.other_ns
        if idle != row.idle_ns:
            yield f"{idle} ns idle in parts, {row.idle_ns} in all"
    idle_shares = [
        row.idle_ns / row.wall_ns for row in views.answers["device"].ranks if row.wall_ns
    ]
    for finding in views.findings:
        if finding.id == "device-idle" and finding.share > max(idle_shares, default=0.0) + 0.005:
            yield f"{finding.share} in the finding, {idle_shares} in `show device`"


def _no_finding_claims_more_than_its_categories(views: Views) -> Iterator[str]:
    for finding in views.findings:
        categories = PARTS.get(finding.id, ())
        most = sum(views.shares.get(name, 0.0) for name in categories)
        if categories and finding.share > most + 0.005:
            yield f"{finding.share:.3f} of {finding.id}, {most:.3f} of {categories}"


def _too_many_threads_take_the_time_without_a_core(views: Views) -> Iterator[str]:
    for finding in views.findings:
        is_meant, lost = finding.id == "thread-oversubscription", views.steps.without_core or 0.0
        if is_meant and not _near(finding.share, lost, within=0.005):
            yield f"{finding.share} in the finding, {lost} in the steps"


def _findings_count_the_same_steps(views: Views) -> Iterator[str]:
    """ "in 12 of 95 steps", wherever a title or the verdict has it."""
    told = [views.answers["findings"].verdict]
    told += [words for each in views.findings for words in (each.title, *each.evidence)]
    for words in told:
        for count in re.findall(r"\d+ of ([\d,]+) (?:measured )?steps", words):
            if int(count.replace(",", "")) != views.steps.measured:
                yield f"{words!r}, but {views.steps.measured} steps were measured"


def _findings_have_the_mean_step(views: Views) -> Iterator[str]:
    if views.steps.step_ms is None:
        return
    mean = milliseconds(views.steps.step_ms.mean)
    for words in (words for each in views.findings for words in each.evidence):
        for told in re.findall(r"of the ([\d.,]+ \S+) (?:mean )?step\b", words):
            if told != mean:
                yield f"{words!r}, but the mean step is {mean}"


# --- input, ranks, cost ---------------------------------------------------------------------------


def _input_waits_as_long_as_the_breakdown_says(views: Views) -> Iterator[str]:
    answer = views.answers["input"]
    if answer.loader is None or not views.steps.measured:
        return
    told = views.shares.get("input", 0.0)
    if not _near(answer.loader.share, told):
        yield f"{answer.loader.share} in `show input`, {told} in the breakdown"
    if answer.loader.steps != views.steps.measured:
        yield f"{answer.loader.steps} steps in `show input`, {views.steps.measured} measured"
    waits = [each for each in views.findings if each.id == "input-bound"]
    if waits and waits[0].share > told + 0.005:
        yield f"{waits[0].share} of input-bound, {told} in the breakdown"


def _ranks_have_their_own_breakdown(views: Views) -> Iterator[str]:
    for row in views.answers["ranks"].ranks:
        steps = VIEWS["steps"].ask(views.run, rank=row.rank)
        if row.steps != steps.steps:
            yield f"rank {row.rank}: {row.steps} steps, {steps.steps} in its breakdown"
        if row.step_ms is None or steps.step_ms is None:
            continue
        ms = {each.category: each.ms for each in steps.breakdown or []}
        pairs = {
            "step": (row.step_ms, steps.step_ms.mean),
            "communication": (row.communication_ms, ms.get("communication", 0.0)),
            "input": (row.input_ms, ms.get("input", 0.0)),
        }
        for what, (one, other) in pairs.items():
            if not _near(one, other):
                yield f"rank {row.rank}: {what} {one} ms, {other} ms in its breakdown"


def _a_thread_without_a_core_leaves_none_idle(views: Views) -> Iterator[str]:
    """While it waits for one, no core is idle."""
    answer, lost = views.answers["input"], views.steps.without_core or 0.0
    if answer.idle_cores is None or not answer.cores:
        return
    most = answer.cores * (1.0 - lost)
    if answer.idle_cores > most + 0.1:
        yield f"{answer.idle_cores} idle, but for {lost} of the time there was none to have"
    for words in (words for each in views.findings for words in each.evidence):
        for told in re.findall(r"([\d.]+) cores are idle meanwhile", words):
            if told != f"{answer.idle_cores:.1f}":
                yield f"{words!r}, but {answer.idle_cores} in `show input`"


def _our_own_windows_are_recording_cost(views: Views) -> Iterator[str]:
    """Opening and closing them, whichever framework and step that happens in."""
    process = views.run.main
    steps = find_steps(views.run, process) if process else None
    if process is None or steps is None or not len(steps):
        return
    own = process.spans.of(SpanCategory.PROFILER).on(steps.thread)
    took = overlap_ns(steps.start_ns, steps.end_ns, union(*own.interval_ns))
    for step, ns in zip(views.each, took.tolist(), strict=True):
        if step.phases.get("profiler", 0) < ns - 1000:
            yield f"step {step.number}: {step.phases.get('profiler')} ns of {ns} are `profiler`"


def _recording_costs_the_same_everywhere(views: Views) -> Iterator[str]:
    cost = views.steps.overhead
    if cost is None:
        return
    if views.steps.measured and not _near(cost.share, views.shares.get("profiler", 0.0)):
        yield f"{cost.share} in the last line, {views.shares.get('profiler')} in the breakdown"
    pid = views.run.main.info.pid if views.run.main else None
    for row in views.answers["processes"].processes:
        is_main = row.process.pid == pid and row.process.role != "worker"
        if is_main and not _near(row.overhead_share, cost.share):
            yield f"{row.overhead_share} in `show processes`, {cost.share} in `show steps`"


# --- the whole run --------------------------------------------------------------------------------


def _the_parts_make_the_run(views: Views) -> Iterator[str]:
    summary = views.answers["summary"]
    if sum(part.ns for part in summary.parts) != summary.wall_ns:
        yield "the parts do not sum to the whole run"
    if duration(summary.wall_ns) not in views.text("summary"):
        yield f"`show summary` has no {duration(summary.wall_ns)}"
    main = views.run.main
    rows = views.answers["processes"].processes
    mine = [row.wall_ns for row in rows if main and row.process.pid == main.info.pid]
    was_joined = main is not None and main.info.status == "stopped"
    if mine and not was_joined and mine[0] != summary.wall_ns:
        yield f"{mine[0]} ns in `show processes`, {summary.wall_ns} in the summary"


def _the_timeline_is_as_long_as_the_run(views: Views) -> Iterator[str]:
    timeline, summary = views.page.timeline, views.answers["summary"]
    if timeline is None:
        return
    is_alone = (
        len(views.run.processes) == 1
    )  # others may begin before the main process, or outlive it
    if timeline.whole_ns < summary.wall_ns - 1_000_000:
        yield f"{timeline.whole_ns} ns on the timeline, {summary.wall_ns} in the summary"
    if is_alone and timeline.whole_ns > summary.wall_ns + 1_000_000:
        yield f"{timeline.whole_ns} ns on the timeline, {summary.wall_ns} in the summary"


def _everything_lies_on_the_timeline(views: Views) -> Iterator[str]:
    timeline = views.page.timeline
    if timeline is None:
        return
    for each in views.answers["memory"].processes:
        outside = [point.at_ns for point in each.points if not point.at_ns >= 0]
        late = [point.at_ns for point in each.points if point.at_ns > timeline.whole_ns]
        if outside or late:
            yield f"memory of {each.process} at {outside + late}, of {timeline.whole_ns} ns"
    begins = [step.start_ns + timeline.main_ns for step in views.each]
    if begins and not 0 <= begins[0] <= begins[-1] <= timeline.whole_ns:
        yield f"steps from {begins[0]} to {begins[-1]}, of {timeline.whole_ns} ns"


def _files_take_no_more_than_their_process(views: Views) -> Iterator[str]:
    whole: dict[Any, float] = {}
    for row in views.answers["files"].files:
        whole[row.process] = whole.get(row.process, 0.0) + row.share
    for process, share in whole.items():
        if share > 1.0 + ROUNDING:
            yield f"{share} of {process}"


def _memory_has_one_peak(views: Views) -> Iterator[str]:
    peaks = {each.process.pid: each for each in views.answers["memory"].processes}
    for row in views.answers["processes"].processes:
        memory = peaks.get(row.process.pid)
        if memory is None:
            continue
        if row.peak_bytes != memory.peak_bytes:
            yield f"{row.peak_bytes} in `show processes`, {memory.peak_bytes} in `show memory`"
        if max(point.resident_bytes for point in memory.points) != memory.peak_bytes:
            yield f"the chart does not reach its peak of {memory.peak_bytes} bytes, or exceeds it"


def _the_list_of_runs_has_the_same_figures(views: Views) -> Iterator[str]:
    """As it does when the report has been written."""
    keep_figures(views.path, views.page.summary, views.page.verdict)
    figures = run_entry("run", views.path).figures
    if figures is None:  # nowhere to keep them
        return
    mean = views.steps.step_ms.mean if views.steps.step_ms else None
    if not _near(figures.mean_step_ms, mean) or figures.verdict != views.page.verdict:
        yield f"{figures} in the list, {mean} ms and {views.page.verdict!r} in the run"


CHECKS: tuple[Callable[[Views], Iterator[str]], ...] = (
    _summary_and_page_have_the_same_steps,
    _the_breakdown_sums_to_the_mean_step,
    _the_single_steps_make_the_mean,
    _the_page_draws_these_steps,
    _the_terminal_prints_these_figures,
    _the_verdict_has_the_share_of_the_first_finding,
    _every_view_begins_with_the_same_sentence,
    _a_finding_has_the_share_of_its_category,
    _what_keeps_its_name_is_the_sum_of_the_steps,
    _no_finding_claims_more_than_its_categories,
    _no_more_steps_are_behind_a_finding_than_were_measured,
    _the_devices_time_is_its_parts,
    _too_many_threads_take_the_time_without_a_core,
    _findings_count_the_same_steps,
    _findings_have_the_mean_step,
    _input_waits_as_long_as_the_breakdown_says,
    _ranks_have_their_own_breakdown,
    _a_thread_without_a_core_leaves_none_idle,
    _our_own_windows_are_recording_cost,
    _recording_costs_the_same_everywhere,
    _the_parts_make_the_run,
    _the_timeline_is_as_long_as_the_run,
    _everything_lies_on_the_timeline,
    _files_take_no_more_than_their_process,
    _memory_has_one_peak,
    _the_list_of_runs_has_the_same_figures,
)
