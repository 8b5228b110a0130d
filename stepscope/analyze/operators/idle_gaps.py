"""The longest time in each step in which nothing runs on a device, and what the host does then."""

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import step_of
from stepscope.analyze.traces.marks import interval
from stepscope.clock import Ints
from stepscope.importers.frame_names import frame_of
from stepscope.importers.trace import Category, Frame, Trace

_MOST: Final = 0.5  # of the gap: two calls of a thread that both have that lie in each other


@dataclasses.dataclass(frozen=True, eq=False)
class IdleGaps:
    """One for each step in which the device idles, in Unix time."""

    trace: Trace
    start_ns: Ints
    end_ns: Ints
    begins_step: npt.NDArray[np.bool_]

    @property
    def total_ns(self) -> int:
        return int((self.end_ns - self.start_ns).sum())

    @functools.cached_property
    def host_is_in(self) -> Frame | None:
        """The innermost function that the launching threads spend most of the longest gap in; None:
        the trace has no stacks, or there is none."""
        if not len(self.start_ns):
            return None
        longest = int(np.argmax(self.end_ns - self.start_ns))
        begin, end = self.start_ns[longest], self.end_ns[longest]
        calls = _on_launching_threads(self.trace, self.trace.of(Category.PYTHON))
        starts, ends = interval(calls)
        there_ns = np.minimum(ends, end) - np.maximum(starts, begin)
        calls = calls[there_ns > _MOST * (end - begin)]
        if not len(calls):
            return None
        innermost = calls[np.lexsort((-calls["duration_ns"], calls["start_ns"]))[-1]]
        return frame_of(self.trace.names[innermost["name"]])


def _on_launching_threads(trace: Trace, calls: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Some versions number the threads of stacks on their own: if there is one, it is that."""
    launching = np.unique(trace.of(Category.RUNTIME)["thread"])
    if len(np.unique(calls["thread"])) <= 1:
        return calls
    kept: npt.NDArray[Any] = calls[np.isin(calls["thread"], launching)]
    return kept


def idle_gaps(trace: Trace, steps: tuple[Ints, Ints], busy: tuple[Ints, Ints]) -> IdleGaps:
    """`steps`: start and end, in order; `busy`: a union."""
    begins, ends = _cut(*_between(busy, steps[0].min(), steps[1].max()), np.concatenate(steps))
    step = step_of(begins, *steps)
    begins, ends, step = begins[step >= 0], ends[step >= 0], step[step >= 0]
    if not len(step):
        return IdleGaps(trace, begins, ends, np.zeros(0, np.bool_))
    number = np.cumsum(np.append(False, step[1:] != step[:-1]))
    longest_ns = np.maximum.reduceat(ends - begins, np.unique(number, return_index=True)[1])
    is_longest = np.flatnonzero(ends - begins == longest_ns[number])
    first = is_longest[np.unique(number[is_longest], return_index=True)[1]]
    return IdleGaps(trace, begins[first], ends[first], begins[first] == steps[0][step[first]])


def _between(busy: tuple[Ints, Ints], first_ns: int, last_ns: int) -> tuple[Ints, Ints]:
    """What a union leaves of this time."""
    begins = np.clip(np.append(first_ns, busy[1]), first_ns, last_ns)
    ends = np.clip(np.append(busy[0], last_ns), first_ns, last_ns)
    return begins[ends > begins], ends[ends > begins]


def _cut(begins: Ints, ends: Ints, at_ns: Ints) -> tuple[Ints, Ints]:
    """Stretches in order, in pieces where one of these moments lies inside."""
    if not len(begins):
        return begins, ends
    gap = np.maximum(np.searchsorted(begins, at_ns) - 1, 0)
    inside = np.unique(at_ns[(begins[gap] < at_ns) & (at_ns < ends[gap])])
    return np.sort(np.append(begins, inside)), np.sort(np.append(ends, inside))
