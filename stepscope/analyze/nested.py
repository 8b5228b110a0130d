"""Spans of one category as a tree: what lies inside what, by time and thread, summed up by path."""

import dataclasses

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import Indices, Intervals, parents
from stepscope.clock import Ints
from stepscope.store.format import EventKind, SpanCategory
from stepscope.store.reader import ProcessData

Path = tuple[str, ...]  # names from the outermost span inwards


@dataclasses.dataclass
class Total:
    """A parent's time is its own and that of what lies inside of it."""

    calls: int = 0
    total_ns: int = 0
    self_ns: int = 0


def nested_spans(process: ProcessData, category: SpanCategory) -> dict[Path, Total]:
    """Depth first: each path, then those below it, the longest first."""
    spans = process.of_kind(EventKind.SPAN)
    spans = spans[spans["extra"] == category]
    start, end = process.interval_ns(spans)
    end = np.maximum(end, start + 1)  # one that lasted no measurable time was called all the same
    totals: dict[Path, Total] = {}
    for thread in np.unique(spans["thread"]).tolist():
        here = spans["thread"] == thread
        found = Intervals.sorted(start[here], end[here], spans["name"][here])
        _add_thread(totals, process, found)
    return {path: totals[path] for path in _depth_first(totals)}


def _add_thread(totals: dict[Path, Total], process: ProcessData, found: Intervals) -> None:
    around = parents(found)
    lasted = found.end_ns - found.start_ns
    own = lasted.copy()
    np.subtract.at(own, around[around >= 0], lasted[around >= 0])
    paths, path_of = _paths(process, found, around)
    calls = np.bincount(path_of, minlength=len(paths)).tolist()
    lasted_sums, own_sums = _sums(path_of, lasted, len(paths)), _sums(path_of, own, len(paths))
    for index, path in enumerate(paths):
        total = totals.setdefault(path, Total())
        total.calls += calls[index]
        total.total_ns += int(lasted_sums[index])
        total.self_ns += int(own_sums[index])


def _sums(group: Indices, values: Ints, groups: int) -> Ints:
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, values)
    return total


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


def _depth_first(totals: dict[Path, Total]) -> list[Path]:
    """Siblings by total time; a path is sorted by what its ancestors and itself took."""

    def order(path: Path) -> list[tuple[int, str]]:
        prefixes = (path[: depth + 1] for depth in range(len(path)))
        return [(-totals[prefix].total_ns, prefix[-1]) for prefix in prefixes]

    return sorted(totals, key=order)
