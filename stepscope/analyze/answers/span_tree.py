"""Spans of one category as a tree: what lies inside what, by time and thread, summed up by path."""

import dataclasses

import numpy as np
import numpy.typing as npt

from stepscope.analyze.grouping import sums
from stepscope.analyze.intervals import Indices, Intervals, overlap_ns, parents, union
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

Path = tuple[str, ...]  # names from the outermost span inwards
Totals = dict[Path, "Total"]


@dataclasses.dataclass
class Total:
    """A parent's time is its own plus that of what lies inside it."""

    calls: int = 0
    total_ns: int = 0
    self_ns: int = 0
    in_steps_ns: int = 0


def add_spans(
    totals: Totals, process: ProcessData, category: SpanCategory, steps: tuple[Ints, Ints]
) -> None:
    """`steps`: begin and end of those that count as such."""
    spans = process.spans.of(category)
    start, end = spans.interval_ns
    end = np.maximum(end, start + 1)  # a call too short to measure still counts
    for thread in np.unique(spans.thread).tolist():
        here = spans.thread == thread
        found = Intervals.sorted(start[here], end[here], spans.name[here])
        _add_thread(totals, process, found, union(*steps))


def _add_thread(
    totals: Totals, process: ProcessData, found: Intervals, steps: tuple[Ints, Ints]
) -> None:
    around = parents(found)
    lasted = found.end_ns - found.start_ns
    own = lasted.copy()
    np.subtract.at(own, around[around >= 0], lasted[around >= 0])
    in_steps = overlap_ns(found.start_ns, found.end_ns, steps)
    paths, path_of = _paths(process, found, around)
    calls = np.bincount(path_of, minlength=len(paths)).tolist()
    columns = [
        sums(path_of, values, len(paths)).tolist()
        for values in (lasted, np.maximum(own, 0), in_steps)
    ]
    for path, *figures in zip(paths, calls, *columns, strict=True):
        total = totals.setdefault(path, Total())
        total.calls += figures[0]
        total.total_ns += figures[1]
        total.self_ns += figures[2]
        total.in_steps_ns += figures[3]


def _paths(
    process: ProcessData, found: Intervals, around: Indices
) -> tuple[list[Path], npt.NDArray[np.intp]]:
    """The path of each span, as an index into all paths: level by level, outermost first."""
    paths: list[Path] = []
    path_of = np.full(len(found), -1, np.intp)
    todo = np.flatnonzero(around < 0)
    while len(todo):
        above = np.where(around[todo] >= 0, path_of[around[todo]], -1)
        pairs, which = np.unique(
            np.stack([above, found.label[todo]], axis=1), axis=0, return_inverse=True
        )
        path_of[todo] = len(paths) + which.reshape(-1)
        for outer, name in pairs.tolist():
            text = process.names.spans[name].name if name in process.names.spans else "(unnamed)"
            paths.append((*(paths[outer] if outer >= 0 else ()), text))
        todo = np.flatnonzero((path_of < 0) & (around >= 0) & (path_of[around] >= 0))
    return paths, path_of


def depth_first(totals: Totals) -> list[Path]:
    """Each path, then those below it; siblings by total time."""

    def order(path: Path) -> list[tuple[int, str]]:
        prefixes = (path[: depth + 1] for depth in range(len(path)))
        return [(-totals[prefix].total_ns, prefix[-1]) for prefix in prefixes]

    return sorted(totals, key=order)
