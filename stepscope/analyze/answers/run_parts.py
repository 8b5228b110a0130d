"""The main process's time, divided: imports, set-up, steps, evaluation, saving, teardown.

1. Steps are steps, except for the evaluation and saving that a framework reports: they happen
   from time to time, inside the step that follows.
2. Outside, imports, evaluation and saving are what their spans say; saving also includes the
   functions that open a file for writing between two steps.
3. Before the first step the rest is set-up, after the last one teardown.
4. Between steps it is split where a loop around the step loop begins its next turn (the next
   epoch, the next fold): before that it is evaluation, after it set-up. The same goes for what
   follows the last step.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from stepscope.analyze.intervals import Intervals, exclusive_by_step, union
from stepscope.analyze.lifetimes import recorded_stretch_ns
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.opened_files import read_opens
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.model import Part
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

CATEGORIES: Final = ("imports", "set-up", "steps", "evaluation", "saving", "teardown")
_PHASES: Final = {SpanCategory.EVALUATION: "evaluation", SpanCategory.CHECKPOINT: "saving"}
_Stretch = tuple[int, int, str]  # from, to, category


def parts(run: Run) -> list[Part]:
    """They sum to the wall time, from the start of the process to its end."""
    process = run.main
    if process is None or process.trace is not None:  # a trace does not say what it is part of
        return [Part(category=category, ns=0, share=0.0) for category in CATEGORIES]
    start_ns, end_ns = recorded_stretch_ns(run, process)
    found = find_steps(run, process)
    stretches = _stretches(found, start_ns, end_ns)
    totals = _sum_up(process, found, stretches)
    wall_ns = max(1, end_ns - start_ns)
    return [
        Part(category=category, ns=totals[category], share=totals[category] / wall_ns)
        for category in CATEGORIES
    ]


def _stretches(found: FoundSteps, start_ns: int, end_ns: int) -> list[_Stretch]:
    """The whole time, in order, as what it is by default."""
    if not len(found):
        return [(start_ns, end_ns, "set-up")]
    unseen_start, unseen_end = found.unseen_ns
    begins, ends = union(
        np.concatenate([found.start_ns, unseen_start]), np.concatenate([found.end_ns, unseen_end])
    )
    begins, ends = np.clip(begins, start_ns, end_ns), np.clip(ends, start_ns, end_ns)
    stretches: list[_Stretch] = [(start_ns, int(begins[0]), "set-up")]
    next_begins = [*begins[1:].tolist(), None]
    for begin, end, following in zip(begins.tolist(), ends.tolist(), next_begins, strict=True):
        stretches.append((begin, end, "steps"))
        until = end_ns if following is None else following
        turned = _last_between(found.turned_ns, end, until)
        if turned is None:
            turned = end if following is None else until
        stretches.append((end, turned, "evaluation"))
        stretches.append((turned, until, "teardown" if following is None else "set-up"))
    return stretches


def _last_between(at_ns: Ints, start_ns: int, end_ns: int) -> int | None:
    index = int(np.searchsorted(at_ns, end_ns, side="right")) - 1
    if index >= 0 and at_ns[index] >= start_ns:
        return int(at_ns[index])
    return None


def _sum_up(
    process: ProcessData, found: FoundSteps, stretches: Sequence[_Stretch]
) -> dict[str, int]:
    starts = np.array([stretch[0] for stretch in stretches], np.int64)
    ends = np.array([stretch[1] for stretch in stretches], np.int64)
    claimed = exclusive_by_step(_claims(process, found), starts, ends, len(CATEGORIES))
    is_step = np.array([stretch[2] == "steps" for stretch in stretches])
    claimed[is_step, CATEGORIES.index("imports")] = 0
    totals = dict(zip(CATEGORIES, claimed.sum(axis=0).tolist(), strict=True))
    rest = (ends - starts) - claimed.sum(axis=1)
    for (_, _, category), ns in zip(stretches, rest.tolist(), strict=True):
        totals[category] += ns
    return totals


def _claims(process: ProcessData, found: FoundSteps) -> Intervals:
    """Spans, and functions that write files between steps, on the thread of the steps."""
    thread = found.thread if len(found) else process.main_thread
    imports = process.spans.of(SpanCategory.IMPORT)
    wanted = (imports.thread == thread) | (imports.thread == process.main_thread)
    start, end = imports[wanted].interval_ns
    phases = phase_spans(process, found)
    phases = phases.only(phases.of(*_PHASES))
    labels = [CATEGORIES.index(_PHASES[SpanCategory(label)]) for label in phases.category.tolist()]
    opens = read_opens(process, found)
    writes = opens.is_writing & opens.is_whole & (opens.step < 0) & (opens.thread == thread)
    writes &= len(found) > 0 and opens.start_ns >= found.start_ns[0]
    saving_start, saving_end = union(opens.start_ns[writes], opens.end_ns[writes])
    saving = np.full(len(saving_start), CATEGORIES.index("saving"))
    return Intervals.sorted(
        np.concatenate([start, phases.start_ns, saving_start]),
        np.concatenate([end, phases.end_ns, saving_end]),
        np.concatenate([np.zeros(len(start), np.int64), np.array(labels, np.int64), saving]),
    )
