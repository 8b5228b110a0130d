"""The longest time in each step in which nothing runs on a device, and what the host does then."""

import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, step_of, without
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
    begins, ends = without((steps[0].min(keepdims=True), steps[1].max(keepdims=True)), busy)
    edges = np.unique(np.concatenate([begins, ends, *steps]))
    starts, until = edges[:-1], edges[1:]
    step = step_of(starts, *steps)
    kept = (step >= 0) & (overlap_ns(starts, until, (begins, ends)) > 0)
    starts, until, step = starts[kept], until[kept], step[kept]
    order = np.lexsort((starts - until, step))
    longest = order[np.unique(step[order], return_index=True)[1]]
    starts, until, step = starts[longest], until[longest], step[longest]
    return IdleGaps(trace, starts, until, starts == steps[0][step])
