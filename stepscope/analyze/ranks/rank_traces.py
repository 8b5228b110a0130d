"""What the trace of each rank says: its steps, its collectives, when it computed or waited for a
batch.

A rank is a device: frameworks use one each. Where the traces have only the host, it is a process,
which computes in its operators.
"""

import collections
import dataclasses
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.analyze.input.waits_in_trace import waits_in_trace
from stepscope.analyze.intervals import union, without
from stepscope.analyze.traces.collective_calls import (
    CollectiveCalls,
    collective_calls,
    host_collectives,
)
from stepscope.analyze.traces.devices import devices, rank_of
from stepscope.analyze.traces.marks import STEP, interval, ranges
from stepscope.analyze.traces.windows import causes_of, trace_of, windows
from stepscope.analyze.traces.xprof_steps import xprof_steps
from stepscope.clock import Ints
from stepscope.importers.causes import Causes
from stepscope.importers.importer import importer_of
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import Category, Trace
from stepscope.store.reader import ProcessData, Run

_Union = tuple[Ints, Ints]


@dataclasses.dataclass(frozen=True, eq=False)
class RankTrace:
    number: int
    process: ProcessData
    trace: Trace
    device: npt.NDArray[Any]  # what ran there; empty: the trace has only the host
    calls: CollectiveCalls

    @functools.cached_property
    def _causes(self) -> Causes | None:
        return causes_of(windows(self.process)[0])

    @functools.cached_property
    def marked(self) -> _Union:
        """Its steps, as `show steps` has them."""
        if self._causes is None:
            return interval(ranges(self.trace, STEP))
        steps = xprof_steps(self._causes)
        return steps.start_ns[steps.is_whole], steps.end_ns[steps.is_whole]

    @property
    def steps(self) -> _Union:
        """Without any, all of the trace is one."""
        if len(self.marked[0]):
            return self.marked
        start_ns, end_ns = interval(self.trace.events)
        return start_ns.min(keepdims=True), end_ns.max(keepdims=True)

    @functools.cached_property
    def fetches(self) -> _Union:
        """When the host waited for a batch."""
        return waits_in_trace(self.trace, self._causes).stretches

    @functools.cached_property
    def compute(self) -> _Union:
        """When something else than a collective ran on the device; on the host, outside fetches."""
        if len(self.device):
            return _others(self.trace, self.device)
        return without(_others(self.trace, self.trace.of(Category.OP)), self.fetches)

    @functools.cached_property
    def exposed(self) -> _Union:
        """Communication that no computation on the device hides."""
        talking = union(self.calls.start_ns, self.calls.end_ns)
        return without(talking, self.compute) if len(self.device) else talking


def rank_traces(run: Run) -> list[RankTrace]:
    """In order. Where the traces name no rank, or one twice, they are numbered by their place."""
    on_devices = collections.defaultdict(list)
    for each in devices(run):
        on_devices[id(each.process)].append(each.works[0])
    found: list[tuple[int | None, ProcessData, Trace, npt.NDArray[Any], CollectiveCalls]] = []
    for process in run.processes:
        trace = trace_of(process)
        if isinstance(trace, str) or not len(trace.events):
            continue
        rank, works = rank_of(process, trace), on_devices[id(process)]
        known = {each.correlation: each for each in _told(trace)} if works else {}
        found += [
            (rank, process, trace, work.events, collective_calls(trace, work.events, known))
            for work in works
        ]
        if not works:
            nothing = np.zeros(0, trace.events.dtype)
            found.append((rank, process, trace, nothing, host_collectives(trace)))
    return _numbered(found)


def _numbered(found: list[Any]) -> list[RankTrace]:
    ranks = [each[0] for each in found]
    if None in ranks or len(set(ranks)) < len(ranks):
        return [RankTrace(place, *each[1:]) for place, each in enumerate(found)]
    return sorted((RankTrace(*each) for each in found), key=lambda each: each.number)


def _told(trace: Trace) -> list[Any]:
    return importer_of(trace.path).collectives(trace.path)


def _others(trace: Trace, events: npt.NDArray[Any]) -> _Union:
    talks = np.array([is_collective(name) for name in trace.names] or [False])
    return union(*interval(events[~talks[events["name"]]]))
