"""Named regions: nested by time and thread, with their own and their total time."""

import dataclasses

import numpy as np
import numpy.typing as npt

from stepscope.analyze.found import FoundSteps, find_steps
from stepscope.analyze.intervals import Indices, Intervals, overlap_ns, parents, union
from stepscope.analyze.run import all_notes
from stepscope.clock import Ints
from stepscope.model import Process, RegionRow, RegionsAnswer
from stepscope.store.format import EventKind, SpanCategory
from stepscope.store.reader import ProcessData, Run

_Path = tuple[str, ...]  # names from the outermost region inwards


@dataclasses.dataclass
class _Total:
    calls: int = 0
    total_ns: int = 0
    self_ns: int = 0
    in_steps_ns: int = 0


@dataclasses.dataclass
class _Whole:
    """What shares are relative to, for one role."""

    steps: int = 0
    steps_ns: int = 0
    recorded_ns: int = 0


def regions(run: Run) -> RegionsAnswer:
    """Depth first: each region, then those inside of it, the longest first."""
    totals: dict[Process, dict[_Path, _Total]] = {}
    wholes: dict[Process, _Whole] = {}
    for process in run.processes:
        steps = find_steps(run, process)
        whole = wholes.setdefault(process.process, _Whole())
        measured = steps.is_measured
        whole.steps += int(measured.sum())
        whole.steps_ns += int(steps.duration_ns[measured].sum())
        whole.recorded_ns += process.end_ns - process.start_ns
        _add_process(totals.setdefault(process.process, {}), process, steps)
    rows = [
        _row(who, path, paths[path], wholes[who])
        for who, paths in totals.items()
        for path in _depth_first(paths)
    ]
    return RegionsAnswer(regions=rows, notes=all_notes(run))


def _add_process(totals: dict[_Path, _Total], process: ProcessData, steps: FoundSteps) -> None:
    spans = process.of_kind(EventKind.SPAN)
    spans = spans[spans["extra"] == SpanCategory.REGION]
    start, end = process.interval_ns(spans)
    for thread in np.unique(spans["thread"]).tolist():
        here = spans["thread"] == thread
        # A region that lasted no measurable time still counts as a call.
        end_ns = np.maximum(end[here], start[here] + 1)
        found = Intervals.sorted(start[here], end_ns, spans["name"][here])
        _add_thread(totals, process, found, steps)


def _add_thread(
    totals: dict[_Path, _Total], process: ProcessData, found: Intervals, steps: FoundSteps
) -> None:
    around = parents(found)
    lasted = found.end_ns - found.start_ns
    inner = np.zeros(len(found), np.int64)
    np.add.at(inner, around[around >= 0], lasted[around >= 0])
    measured = steps.is_measured
    in_steps = overlap_ns(
        found.start_ns, found.end_ns, union(steps.start_ns[measured], steps.end_ns[measured])
    )
    paths, path_of = _paths(process, found, around)
    columns = [
        _sums(path_of, values, len(paths))
        for values in (lasted, np.maximum(lasted - inner, 0), in_steps)
    ]
    calls = np.bincount(path_of, minlength=len(paths))
    for index, path in enumerate(paths):
        total = totals.setdefault(path, _Total())
        total.calls += int(calls[index])
        total.total_ns += int(columns[0][index])
        total.self_ns += int(columns[1][index])
        total.in_steps_ns += int(columns[2][index])


def _sums(group: Indices, values: Ints, groups: int) -> Ints:
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, values)
    return total


def _paths(
    process: ProcessData, found: Intervals, around: Indices
) -> tuple[list[_Path], npt.NDArray[np.intp]]:
    """The path of each region, as an index into all paths: level by level, outermost first."""
    paths: list[_Path] = []
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


def _depth_first(paths: dict[_Path, _Total]) -> list[_Path]:
    """Siblings by total time; a path is sorted by what its ancestors and itself took."""

    def order(path: _Path) -> list[tuple[int, str]]:
        prefixes = (path[: depth + 1] for depth in range(len(path)))
        return [
            (-paths[prefix].total_ns if prefix in paths else 0, prefix[-1]) for prefix in prefixes
        ]

    return sorted(paths, key=order)


def _row(who: Process, path: _Path, total: _Total, whole: _Whole) -> RegionRow:
    share = None
    if whole.steps_ns:
        share = total.in_steps_ns / whole.steps_ns
    elif whole.recorded_ns > 0:
        share = total.total_ns / whole.recorded_ns
    return RegionRow(
        name=path[-1],
        depth=len(path) - 1,
        parent=path[-2] if len(path) > 1 else None,
        process=who,
        calls=total.calls,
        total_ns=total.total_ns,
        self_ns=total.self_ns,
        mean_ns=total.total_ns // max(1, total.calls),
        per_step_ns=total.in_steps_ns // whole.steps if whole.steps else None,
        share=share,
    )
