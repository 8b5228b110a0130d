"""Whether all views agree on input, ranks, our own cost and the whole run; see agreement.py."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from all_views import ROUNDING, Views, near
from stepscope.analyze.answers.run_list import keep_figures, run_entry
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.show.terminal.drawing.numbers import duration
from stepscope.store.format import SpanCategory
from stepscope.views import VIEWS

# --- lines ----------------------------------------------------------------------------------------


def _the_page_has_the_lines_of_the_terminal(views: Views) -> Iterator[str]:
    drawn = {
        (each.file, each.function, each.first_line, each.process): each for each in views.page.lines
    }
    text = views.text("lines")
    for function in views.answers["lines"].functions:
        key = (function.file, function.function, function.first_line, function.process)
        rows = [(row[:3], row[7]) for row in drawn[key].rows]
        if rows != [((row.line, row.hits, row.ns), row.likely_hits) for row in function.lines]:
            yield f"{function.function}: other lines on the page"
        for row in function.lines:
            is_shown = function.function != "<module>" and row.likely_hits is not None
            if is_shown and f"~{row.likely_hits:,}" not in text:
                yield f"{function.function}:{row.line}: not {row.likely_hits} hits in `show lines`"


def _the_parts_of_a_line_sum_to_its_samples(views: Views) -> Iterator[str]:
    for seen in views.page.line_samples:
        parts = [seen.python_ns, seen.native_ns, seen.waiting_ns]
        known = [each for each in parts if each is not None]
        if known and (len(known) < 3 or sum(known) != seen.own_ns + seen.calls_ns):
            yield f"{seen.file}:{seen.line}: {parts} in {seen.own_ns + seen.calls_ns} ns"
        if min(known, default=0) < 0:
            yield f"{seen.file}:{seen.line}: {parts}"


def _lines_that_load_take_no_more_than_loading(views: Views) -> Iterator[str]:
    answer = views.answers["input"]
    loads_ms = sum(row.ms_per_batch for row in answer.stages if row.stage in ("fetch", "collate"))
    for line in answer.lines if loads_ms else []:
        if line.ms_per_batch > loads_ms * (1 + ROUNDING):
            yield f"{line.file}:{line.line}: {line.ms_per_batch} ms of {loads_ms} ms a batch"


# --- input, ranks, cost ---------------------------------------------------------------------------


def _input_waits_as_long_as_the_breakdown_says(views: Views) -> Iterator[str]:
    answer = views.answers["input"]
    if answer.loader is None or not views.steps.measured:
        return
    claimed = views.shares.get("input", 0.0)
    if not near(answer.loader.share, claimed):
        yield f"{answer.loader.share} in `show input`, {claimed} in the breakdown"
    mean_ms = views.steps.step_ms.mean if views.steps.step_ms else 0.0
    if not near(answer.loader.wait_ms, answer.loader.share * mean_ms):
        yield f"{answer.loader.wait_ms} ms are {answer.loader.share} of a step of {mean_ms} ms"
    if answer.loader.steps != views.steps.measured:
        yield f"{answer.loader.steps} steps in `show input`, {views.steps.measured} measured"
    waits = [each for each in views.findings if each.id == "input-bound"]
    if waits and waits[0].share > claimed + 0.005:
        yield f"{waits[0].share} of input-bound, {claimed} in the breakdown"


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
            if not near(one, other):
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
        for claimed in re.findall(r"([\d.]+) cores are idle meanwhile", words):
            if claimed != f"{answer.idle_cores:.1f}":
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
    if views.steps.measured and not near(cost.share, views.shares.get("profiler", 0.0)):
        yield f"{cost.share} in the last line, {views.shares.get('profiler')} in the breakdown"
    pid = views.run.main.info.pid if views.run.main else None
    for row in views.answers["processes"].processes:
        is_main = row.process.pid == pid and row.process.role != "worker"
        if is_main and not near(row.overhead_share, cost.share):
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
        if memory.points[-1].resident_bytes != memory.last_bytes:
            yield f"the chart ends at {memory.points[-1]}, the last was {memory.last_bytes} bytes"


def _the_timeline_has_the_peak_of_memory(views: Views) -> Iterator[str]:
    timeline = views.page.timeline
    pids = {name.rpartition(" · ")[2]: at for at, name in enumerate(timeline.processes)}
    curves = {each.process: each for each in timeline.counters if each.title == "memory"}
    for row in views.answers["memory"].processes:
        curve = curves.get(pids.get(str(row.process.pid), -1))
        if curve is not None and not near(max(curve.values), row.peak_bytes, within=ROUNDING):
            yield f"up to {max(curve.values)} bytes on the timeline, {row.peak_bytes} at the peak"


def _no_function_takes_more_itself_than_with_what_it_calls(views: Views) -> Iterator[str]:
    for row in views.answers["functions"].functions:
        if None not in (row.tottime_ns, row.cumtime_ns) and row.tottime_ns > row.cumtime_ns:
            yield f"{row.function}: {row.tottime_ns} ns of its own, {row.cumtime_ns} with callees"


def _the_list_of_runs_has_the_same_figures(views: Views) -> Iterator[str]:
    """As it does when the report has been written."""
    keep_figures(views.path, views.page.summary, views.page.verdict)
    figures = run_entry("run", views.path).figures
    if figures is None:  # nowhere to keep them
        return
    mean = views.steps.step_ms.mean if views.steps.step_ms else None
    if not near(figures.mean_step_ms, mean) or figures.verdict != views.page.verdict:
        yield f"{figures} in the list, {mean} ms and {views.page.verdict!r} in the run"


CHECKS: tuple[Callable[[Views], Iterator[str]], ...] = (
    _the_page_has_the_lines_of_the_terminal,
    _the_parts_of_a_line_sum_to_its_samples,
    _lines_that_load_take_no_more_than_loading,
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
    _the_timeline_has_the_peak_of_memory,
    _no_function_takes_more_itself_than_with_what_it_calls,
    _the_list_of_runs_has_the_same_figures,
)
