"""Arithmetic on time intervals: nesting, exclusive time, and what falls into which step."""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints

Indices = npt.NDArray[np.intp]
IntervalOf = Callable[[Indices], tuple[Ints, Ints]]  # where those of these numbers begin and end
_STEPS_AT_ONCE: Final = 2**16  # of millions, what is computed on the way would take gigabytes
_PIECE: Final = 250_000  # intervals at a time


@dataclasses.dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of one thread, sorted by start; what begins together, longest first."""

    start_ns: Ints
    end_ns: Ints
    label: npt.NDArray[np.int64]

    @classmethod
    def sorted(cls, start_ns: Ints, end_ns: Ints, label: npt.NDArray[Any]) -> "Intervals":
        """Drops empty intervals: they own no time."""
        kept = end_ns > start_ns
        start_ns, end_ns, label = start_ns[kept], end_ns[kept], label[kept]
        order = np.lexsort((-end_ns, start_ns))
        return cls(start_ns[order], end_ns[order], label[order].astype(np.int64))

    def __len__(self) -> int:
        return len(self.start_ns)

    def between(self, start_ns: int, end_ns: int) -> "Intervals":
        """Those that overlap this time, with all that is around them."""
        before = int(np.searchsorted(self.start_ns, end_ns))
        kept = np.flatnonzero(self.end_ns[:before] > start_ns)
        return Intervals(self.start_ns[kept], self.end_ns[kept], self.label[kept])


def parents(intervals: Intervals) -> Indices:
    """Index of the innermost interval around each one, -1: none.

    Level by level: the parent of an interval at depth d is the last one at depth d - 1 before it.
    """
    count = len(intervals)
    ended_before = np.searchsorted(np.sort(intervals.end_ns), intervals.start_ns, side="right")
    depth = np.arange(count) - ended_before
    found = np.full(count, -1, dtype=np.intp)
    for level in range(1, int(depth.max(initial=0)) + 1):
        here = np.flatnonzero(depth == level)
        above = np.flatnonzero(depth == level - 1)
        if len(here) and len(above):
            before = np.searchsorted(above, here) - 1
            found[here] = np.where(before >= 0, above[np.maximum(before, 0)], -1)
    return found


def exclusive_by_step(
    intervals: Intervals,
    step_start_ns: Ints,
    step_end_ns: Ints,
    labels: int,
    at_once: int = _STEPS_AT_ONCE,
) -> npt.NDArray[np.int64]:
    """steps x labels: time in which an interval of that label was the innermost one.

    1. Every begin and end, of intervals and of steps, cuts the time into segments.
    2. A segment belongs to the interval that began last, or to the parent of the one that ended;
       after a step's boundary, to the owner of the segment before.
    3. Segments are added up by step and label. Steps must be in order and not overlap.

    Column by column in memory: of millions of steps, a label that none has takes no memory.
    """
    table = np.zeros((len(step_start_ns), labels), dtype=np.int64, order="F")
    with_any = np.flatnonzero(_with_any(intervals, step_start_ns, step_end_ns))
    for first in range(0, len(with_any), at_once):
        part = with_any[first : first + at_once]
        start_ns, end_ns = step_start_ns[part], step_end_ns[part]
        meanwhile = intervals.between(int(start_ns[0]), int(end_ns[-1]))
        table[part] = _exclusive(meanwhile, start_ns, end_ns, labels)
    return table


def _with_any(
    intervals: Intervals, step_start_ns: Ints, step_end_ns: Ints
) -> npt.NDArray[np.bool_]:
    """The steps that an interval overlaps: of millions, often few."""
    first = np.searchsorted(step_end_ns, intervals.start_ns, side="right")
    last = np.maximum(first, np.searchsorted(step_start_ns, intervals.end_ns))
    change = np.zeros(len(step_start_ns) + 1, np.int32)
    np.add.at(change, first, 1)
    np.add.at(change, last, -1)
    overlapped: npt.NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return overlapped


def _exclusive(
    intervals: Intervals, step_start_ns: Ints, step_end_ns: Ints, labels: int
) -> npt.NDArray[np.int64]:
    table = np.zeros((len(step_start_ns), labels), dtype=np.int64)
    count = len(intervals)
    bounds = np.concatenate([step_start_ns, step_end_ns])
    at_ns = np.concatenate([intervals.end_ns, intervals.start_ns, bounds])
    owner = np.concatenate([parents(intervals), np.arange(count), np.full(len(bounds), -2)])
    # At the same moment: inner ends before outer ones, ends before begins, bounds last.
    rank = np.concatenate([-np.arange(count), np.full(count, 1), np.full(len(bounds), 2)])
    order = np.lexsort((rank, at_ns))
    at_ns, owner = at_ns[order], _carried_on(owner[order])
    lasted = np.diff(at_ns)
    begin, owner = at_ns[:-1], owner[:-1]
    step = step_of(begin, step_start_ns, step_end_ns)
    kept = (owner >= 0) & (step >= 0) & (lasted > 0)
    cell = step[kept] * labels + intervals.label[owner[kept]]
    np.add.at(table.reshape(-1), cell, lasted[kept])
    return table


def _carried_on(owner: Indices) -> Indices:
    """-2 becomes the last owner before it."""
    known = np.where(owner == -2, -1, np.arange(len(owner)))
    last = np.maximum.accumulate(known)
    return np.where(last >= 0, owner[np.maximum(last, 0)], -1)


def step_of(at_ns: Ints, step_start_ns: Ints, step_end_ns: Ints) -> Indices:
    """Index of the step that each moment lies in, -1 outside all steps."""
    if not len(step_start_ns):
        return np.full(len(at_ns), -1, dtype=np.intp)
    index = np.searchsorted(step_start_ns, at_ns, side="right") - 1
    inside = (index >= 0) & (at_ns < step_end_ns[np.maximum(index, 0)])
    return np.where(inside, index, -1)


def union(start_ns: Ints, end_ns: Ints) -> tuple[Ints, Ints]:
    """The same time as intervals that do not overlap."""
    kept = end_ns > start_ns
    if not kept.all():
        start_ns, end_ns = start_ns[kept], end_ns[kept]
    if not len(start_ns):
        return start_ns, end_ns
    if (start_ns[1:] < start_ns[:-1]).any():
        order = np.argsort(start_ns, kind="stable")
        start_ns, end_ns = start_ns[order], end_ns[order]
    end_ns = np.maximum.accumulate(end_ns)
    is_gap = start_ns[1:] > end_ns[:-1]
    return start_ns[np.append(True, is_gap)], end_ns[np.append(is_gap, True)]


def without(these: tuple[Ints, Ints], others: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """What lies in one union and not in the other."""
    edges = np.unique(np.concatenate([*these, *others]))
    starts, ends = edges[:-1], edges[1:]
    kept = (overlap_ns(starts, ends, these) > 0) & (overlap_ns(starts, ends, others) == 0)
    return union(starts[kept], ends[kept])


def overlap_ns(start_ns: Ints, end_ns: Ints, others: tuple[Ints, Ints]) -> Ints:
    """How much of each interval lies in `others` (a union)."""
    return _covered_before(end_ns, others) - _covered_before(start_ns, others)


def _covered_before(at_ns: Ints, others: tuple[Ints, Ints]) -> Ints:
    starts, ends = others
    if not len(starts):
        return np.zeros(len(at_ns), dtype=np.int64)
    done = np.concatenate([[0], np.cumsum(ends - starts)])
    index = np.searchsorted(starts, at_ns, side="right")
    over = np.maximum(ends[np.maximum(index - 1, 0)] - at_ns, 0)
    covered: Ints = done[index] - np.where(index > 0, over, 0)
    return covered


def by_order(
    kind: npt.NDArray[Any], interval_of: IntervalOf, steps: tuple[Ints, Ints], kinds: int
) -> npt.NDArray[np.int64]:
    """steps x kinds: how long each kind is the first of those that run: kind 0 hides all others,
    and one below 0 is none. What is left of the time belongs to none."""
    table = np.zeros((len(steps[0]), kinds), np.int64)
    covered = np.zeros(0, np.int64), np.zeros(0, np.int64)
    covered_ns = np.zeros(len(steps[0]), np.int64)
    for number in np.unique(kind).tolist():
        if number < 0:
            continue
        alone = _union_of(interval_of, np.flatnonzero(kind == number))
        covered = union(*_joined(covered, alone))
        now_ns = overlap_ns(*steps, covered)
        table[:, number] = now_ns - covered_ns
        covered_ns = now_ns
    return table


def intervals_of(start_ns: Ints, end_ns: Ints) -> IntervalOf:
    return lambda chosen: (start_ns[chosen], end_ns[chosen])


def _union_of(interval_of: IntervalOf, chosen: Indices) -> tuple[Ints, Ints]:
    """Piece by piece: of millions, most overlap with their neighbours."""
    parts = [union(*interval_of(piece)) for piece in _pieces(chosen)]
    return union(*_joined(*parts)) if len(parts) > 1 else parts[0]


def _pieces(chosen: Indices) -> list[Indices]:
    return np.array_split(chosen, max(1, len(chosen) // _PIECE))


def _joined(*parts: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    starts, ends = zip(*parts, strict=True)
    return np.concatenate(starts), np.concatenate(ends)
