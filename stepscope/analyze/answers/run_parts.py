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

from typing import Final, NamedTuple

import numpy as np

from stepscope.analyze.grouping import sums
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
_SET_UP, _STEPS, _EVALUATION, _TEARDOWN = map(
    CATEGORIES.index, ("set-up", "steps", "evaluation", "teardown")
)


class _Stretches(NamedTuple):
    start_ns: Ints
    end_ns: Ints
    category: Ints


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


def _stretches(found: FoundSteps, start_ns: int, end_ns: int) -> _Stretches:
    """The whole time, in order, as what it is by default."""
    if not len(found):
        return _Stretches(np.array([start_ns]), np.array([end_ns]), np.array([_SET_UP]))
    unseen_start, unseen_end = found.unseen_ns
    begins, ends = union(
        np.concatenate([found.start_ns, unseen_start]), np.concatenate([found.end_ns, unseen_end])
    )
    begins, ends = np.clip(begins, start_ns, end_ns), np.clip(ends, start_ns, end_ns)
    turned = _last_turns(found.outer_turns_ns, ends, np.append(begins[1:], end_ns))
    edges = np.stack([begins, ends, turned], axis=1).reshape(-1)
    category = np.append(_SET_UP, np.tile([_STEPS, _EVALUATION, _SET_UP], len(begins)))
    category[-1] = _TEARDOWN
    return _Stretches(np.append(start_ns, edges), np.append(edges, end_ns), category)


def _last_turns(outer_turns_ns: Ints, ends: Ints, until: Ints) -> Ints:
    """Where the last turn between steps was. If there is none, all of the time until the next steps
    is before it; what follows the last step is after it."""
    turns = np.append(np.iinfo(np.int64).min, outer_turns_ns)
    last = turns[np.searchsorted(turns, until, side="right") - 1]
    otherwise = np.append(until[:-1], ends[-1:])
    return np.where(last >= ends, last, otherwise)


def _sum_up(process: ProcessData, found: FoundSteps, stretches: _Stretches) -> dict[str, int]:
    start_ns, end_ns, category = stretches
    claimed = exclusive_by_step(_claims(process, found), start_ns, end_ns, len(CATEGORIES))
    claimed[category == _STEPS, CATEGORIES.index("imports")] = 0
    rest = end_ns - start_ns - claimed.sum(axis=1)
    totals = claimed.sum(axis=0) + sums(category, rest, len(CATEGORIES))
    return dict(zip(CATEGORIES, totals.tolist(), strict=True))


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
