"""What each step's time was spent on: exclusive categories that sum to the step."""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals, opens, overhead
from stepscope.analyze.found import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import EventKind, SpanCategory
from stepscope.store.reader import ProcessData

_NOT_PHASES: Final = (SpanCategory.REGION, SpanCategory.IMPORT)
_SPANS: Final = {
    int(category): category.name.lower() for category in SpanCategory if category not in _NOT_PHASES
}
_FILES: Final = max(SpanCategory) + 1
_PYTHON: Final = _FILES + 1
_NAMES: Final = {**_SPANS, _FILES: "files", _PYTHON: "python"}
_LABELS: Final = _PYTHON + 1
# Without a framework these are always told, 0 or not.
_ALWAYS: Final = ("python", "files", "gc", "profiler")


@dataclasses.dataclass(frozen=True, eq=False)
class Phases:
    """`ns` is steps x categories; a row sums to its step's duration."""

    names: tuple[str, ...]
    ns: npt.NDArray[np.int64]


def phases_by_step(process: ProcessData, steps: FoundSteps) -> Phases:
    """Innermost span wins; files only where no phase claims the time; Python is the rest."""
    table = intervals.exclusive_by_step(
        _activities(process, steps), steps.start_ns, steps.end_ns, _LABELS
    )
    _fit(table, steps.duration_ns)
    rest = steps.duration_ns - table.sum(axis=1)
    _claim(table, rest, _FILES, opens.estimated_by_step(process, steps))
    cost = np.rint(overhead.modelled_share(process, steps) * steps.duration_ns).astype(np.int64)
    _claim(table, rest, SpanCategory.PROFILER, cost)
    table[:, _PYTHON] = rest
    used = [label for label, name in _NAMES.items() if name in _ALWAYS or table[:, label].any()]
    return Phases(tuple(_NAMES[label] for label in used), table[:, used])


def _activities(process: ProcessData, steps: FoundSteps) -> intervals.Intervals:
    """Phase spans and file activations on the step's thread."""
    spans = process.of_kind(EventKind.SPAN)
    wanted = np.isin(spans["extra"], list(_SPANS)) & (spans["thread"] == steps.thread)
    spans = spans[wanted]
    start, end = process.interval_ns(spans)
    phases = intervals.union(*_without_gc(start, end, spans))
    file_start, file_end = opens.spans_in_steps(process, steps)
    free = intervals.overlap_ns(file_start, file_end, phases) == 0
    file_start, file_end = file_start[free], file_end[free]
    labels = np.concatenate([spans["extra"], np.full(len(file_start), _FILES)])
    return intervals.Intervals.sorted(
        np.concatenate([start, file_start]), np.concatenate([end, file_end]), labels
    )


def _without_gc(start: Ints, end: Ints, spans: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Collections and our own work happen anywhere: they do not make a file part of a phase."""
    own = np.isin(spans["extra"], [SpanCategory.GC, SpanCategory.PROFILER])
    return start[~own], end[~own]


def _fit(table: npt.NDArray[np.int64], duration_ns: Ints) -> None:
    """Damaged spans must not claim more than the step has."""
    claimed = table.sum(axis=1)
    table[claimed > duration_ns] = 0


def _claim(table: npt.NDArray[np.int64], rest: Ints, label: int, wanted_ns: Ints) -> None:
    """Give a category time that nobody has claimed so far, as far as there is any."""
    given = np.clip(wanted_ns, 0, rest)
    table[:, label] += given
    rest -= given
