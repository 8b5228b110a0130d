"""Whether all views of a run say the same: each figure that appears twice is compared.

`disagreements` renders every view (its record, its text on the terminal, the page's content) and
says what differs. What a finding claims as a whole is compared with the row that it is about.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np

import agreement_of_the_run
from all_views import Views, near
from stepscope.advise.rules.slow_outlier_steps import MOST_SHOWN
from stepscope.analyze.answers.headline import headline
from stepscope.model.categories import LEAST_SHARE, OUTLIERS
from stepscope.show.terminal.drawing.numbers import milliseconds, percent

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


def disagreements(path: Path) -> list[str]:
    """In words; empty if all views of the run say the same."""
    views = Views(path)
    return [f"{check.__name__[1:]}: {words}" for check in CHECKS for words in check(views)]


# --- the steps ------------------------------------------------------------------------------------


def _summary_and_page_have_the_same_steps(views: Views) -> Iterator[str]:
    claimed = {
        "summary": views.answers["summary"].steps,
        "page": views.page.summary.steps,
    }
    for where, steps in claimed.items():
        if msgspec.json.encode(steps) != msgspec.json.encode(views.steps):
            yield f"the steps of the {where} are not those of `show steps`"


def _the_breakdown_sums_to_the_mean_step(views: Views) -> Iterator[str]:
    steps = views.steps
    if not steps.breakdown or steps.step_ms is None:
        return
    total = sum(each.ms for each in steps.breakdown)
    if not near(total, steps.step_ms.mean):
        yield f"{total} ms in the categories, {steps.step_ms.mean} ms in the mean step"
    if not near(sum(views.shares.values()), 1.0):
        yield f"the shares sum to {sum(views.shares.values())}"


def _the_single_steps_make_the_mean(views: Views) -> Iterator[str]:
    measured = [step for step in views.each if step.measured]
    steps = views.steps
    if len(views.each) != steps.steps or len(measured) != (steps.measured or 0):
        yield f"{len(measured)} of {len(views.each)} are measured one by one, {steps.measured} "
    if measured and steps.step_ms is not None:
        mean_ms = float(np.mean([step.duration_ns for step in measured])) / 1e6
        if not near(mean_ms, steps.step_ms.mean):
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
    claimed = [each.number for each in views.answers["findings"].outliers]
    is_cut = len(claimed) < len(slow) and len(claimed) == MOST_SHOWN
    if claimed and (not set(claimed) <= set(slow) if is_cut else sorted(claimed) != sorted(slow)):
        yield f"slow steps {slow} on the page, {claimed} in the findings"


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
        claimed = sum(each.share for each in views.findings if each.id == finding.id)
        row = views.shares.get(category, 0.0)
        is_part = category == "logging" and _logs_as_usual(views)
        if claimed > row + 0.005 or (claimed < row - 0.005 and not is_part):
            yield f"{claimed:.3f} of {finding.id}, {row:.3f} of {category}"


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
        claimed = sum(step.phases.get(category, 0) for step in measured) / whole
        row = views.shares.get(category, 0.0)
        if category != "gc" and not near(claimed, row, within=0.005):
            yield f"{claimed} of {category} in the steps, {row} in the breakdown"


def _no_more_steps_are_behind_a_finding_than_were_measured(views: Views) -> Iterator[str]:
    for finding in views.findings:
        for claimed in re.findall(r"([\d,]+) measured steps?", finding.confidence):
            if int(claimed.replace(",", "")) > (views.steps.measured or 0):
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
        if is_meant and not near(finding.share, lost, within=0.005):
            yield f"{finding.share} in the finding, {lost} in the steps"


def _findings_count_the_same_steps(views: Views) -> Iterator[str]:
    """ "in 12 of 95 steps", wherever a title or the verdict has it."""
    claimed = [views.answers["findings"].verdict]
    claimed += [words for each in views.findings for words in (each.title, *each.evidence)]
    for words in claimed:
        for count in re.findall(r"\d+ of ([\d,]+) (?:measured )?steps", words):
            if int(count.replace(",", "")) != views.steps.measured:
                yield f"{words!r}, but {views.steps.measured} steps were measured"


def _findings_have_the_mean_step(views: Views) -> Iterator[str]:
    if views.steps.step_ms is None:
        return
    mean = milliseconds(views.steps.step_ms.mean)
    for words in (words for each in views.findings for words in each.evidence):
        for claimed in re.findall(r"of the ([\d.,]+ \S+) (?:mean )?step\b", words):
            if claimed != mean:
                yield f"{words!r}, but the mean step is {mean}"


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
    *agreement_of_the_run.CHECKS,
)
