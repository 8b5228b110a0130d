"""Waiting for input inside a compiled function, which only the framework's own profiler sees.

Keras' `fit` fetches its batches in the function that trains: for the recorder that is all compute.
In a step that lies in an operator window the wait is known; elsewhere it is assumed to be the
same share of the compute.
"""

import dataclasses
import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, step_of, union
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.traces.batch_fetches import fetches
from stepscope.analyze.traces.windows import read_causes, windows
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

Pairs = tuple[Ints, Ints]
ESTIMATED: Final = (
    "The wait for input inside the compiled function is known in the steps of operator windows; "
    "in the others it is estimated from those."
)


@dataclasses.dataclass(frozen=True, eq=False)
class GraphInput:
    """By step: how much of its compute is waiting for input."""

    ns: Ints
    is_estimated: npt.NDArray[np.bool_]


@functools.lru_cache(maxsize=64)
def graph_input(process: ProcessData, steps: FoundSteps) -> GraphInput | None:
    """None: no window shows any such wait."""
    compute = _compute(process, steps)
    if not len(steps) or not len(compute[0]):
        return None
    waits, seen = _waits(process)
    if not len(waits[0]):
        return None
    in_step = step_of(compute[0], steps.start_ns, steps.end_ns)
    whole_ns, seen_ns, wait_ns = (np.zeros(len(steps), np.int64) for _ in range(3))
    inside = in_step >= 0
    start, end = compute[0][inside], np.minimum(compute[1][inside], steps.end_ns[in_step[inside]])
    np.add.at(whole_ns, in_step[inside], end - start)
    np.add.at(seen_ns, in_step[inside], overlap_ns(start, end, seen))
    np.add.at(wait_ns, in_step[inside], overlap_ns(start, end, waits))
    is_known = (whole_ns > 0) & (seen_ns == whole_ns)
    known_ns = int(whole_ns[is_known].sum())
    if not known_ns or not wait_ns[is_known].any():
        return None
    share = float(wait_ns[is_known].sum()) / known_ns
    wait_in_compute_ns = np.where(is_known, wait_ns, np.rint(share * whole_ns).astype(np.int64))
    return GraphInput(wait_in_compute_ns, ~is_known & (whole_ns > 0))


def _compute(process: ProcessData, steps: FoundSteps) -> Pairs:
    return union(*process.spans.of(SpanCategory.COMPUTE).on(steps.thread).interval_ns)


@functools.lru_cache(maxsize=64)
def _waits(process: ProcessData) -> tuple[Pairs, Pairs]:
    """When an operation of a graph fetched a batch, and when that would have been recorded; both on
    the process's own clock."""
    none = np.zeros(0, np.int64)
    starts, ends, begins, stops = [none], [none], [none], [none]
    for window in windows(process):
        causes = read_causes(window.path)
        if causes is None or window.start_ns is None or window.end_ns is None:
            continue
        host, fetched = causes.host, fetches(causes.host)
        to_ours = process.clock.monotonic_ns(0)
        starts.append(host.start_ns[fetched] + to_ours)
        ends.append(host.end_ns[fetched] + to_ours)
        begins.append(np.array([window.start_ns]))
        stops.append(np.array([window.end_ns]))
    waits = union(np.concatenate(starts), np.concatenate(ends))
    return waits, union(np.concatenate(begins), np.concatenate(stops))
