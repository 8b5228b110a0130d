"""Begins and ends of the operators and calls of a step, on each host thread, in order."""

import dataclasses

import numpy as np

from stepscope.analyze.device.path_steps import PathStep
from stepscope.analyze.traces.devices import Table, Work
from stepscope.analyze.traces.marks import STEP, named
from stepscope.analyze.traces.nesting import parents
from stepscope.clock import Ints
from stepscope.importers.trace import Category, Trace
from stepscope.model.device import PathKind

OUTSIDE: PathKind = "outside operators"


@dataclasses.dataclass(frozen=True, eq=False)
class HostMoments:
    """One entry per begin and per end, by thread; on a thread, in the order of time."""

    at_ns: list[int]
    thread: list[int]
    label: list[tuple[PathKind, str]]  # what the time since the moment before belongs to
    is_outermost_begin: list[bool]
    waits_for_device: list[bool]  # the end of a synchronising call
    call: list[int]  # the begin of a call: its place among the calls; else -1
    partner: list[int]  # the begin to each end; itself for a begin


def host_moments(work: Work, step: PathStep) -> HostMoments:
    found = HostMoments([], [], [], [], [], [], [])
    trace = work.trace
    is_wanted = trace.is_of(Category.OP, Category.RUNTIME)
    starts = trace.events["start_ns"]
    is_wanted &= ~trace.events["is_input"] & ~named(trace, STEP)  # old: marks as operators
    events = trace.events[is_wanted & (starts >= step.start_ns) & (starts < step.end_ns)]
    ends = events["start_ns"] + events["duration_ns"]
    order = np.lexsort((-ends, events["start_ns"], events["thread"]))
    places = _places(work, events[order])
    waits = (places >= 0) & np.append(work.is_wait, False)[places]
    _Walk(found, trace, events[order], ends[order], places, waits.tolist()).go()
    return found


def _places(work: Work, events: Table) -> Ints:
    """The place of each among the calls; -1: it is an operator."""
    keys = {
        key: index
        for index, key in enumerate(
            zip(work.calls["thread"].tolist(), work.calls["start_ns"].tolist(),
                work.calls["correlation"].tolist(), strict=True)
        )
    }  # fmt: skip
    columns = (events[name].tolist() for name in ("thread", "start_ns", "correlation"))
    places = np.array([keys.get(key, -1) for key in zip(*columns, strict=True)], np.int64)
    return np.where(events["category"] == Category.RUNTIME, places, -1)


class _Walk:
    """Opens and closes the events of each thread in order, as a stack."""

    def __init__(
        self, found: HostMoments, trace: Trace, events: Table, end_ns: Ints, call: Ints,
        waits: list[bool],
    ) -> None:  # fmt: skip
        self._found = found
        self._parent = parents(events["thread"], events["start_ns"], end_ns).tolist()
        self._start, self._end = events["start_ns"].tolist(), end_ns.tolist()
        self._thread, self._call = events["thread"].tolist(), call.tolist()
        self._names = [trace.names[each] for each in events["name"].tolist()]
        self._is_call = (events["category"] == Category.RUNTIME).tolist()
        self._waits = waits
        self._began: dict[int, int] = {}

    def go(self) -> None:
        open_now: list[int] = []
        for index in range(len(self._start)):
            while open_now and open_now[-1] != self._parent[index]:
                self._close(open_now)
            self._add(index, self._start[index], self._label(open_now), is_end=False)
            self._found.is_outermost_begin[-1] = not open_now
            open_now.append(index)
        while open_now:
            self._close(open_now)

    def _close(self, open_now: list[int]) -> None:
        label = self._label(open_now)
        index = open_now.pop()
        self._add(index, self._end[index], label, is_end=True)

    def _label(self, open_now: list[int]) -> tuple[PathKind, str]:
        if not open_now:
            return OUTSIDE, "Python and libraries"
        innermost = open_now[-1]
        return "call" if self._is_call[innermost] else "operator", self._names[innermost]

    def _add(self, index: int, at_ns: int, label: tuple[PathKind, str], *, is_end: bool) -> None:
        found = self._found
        found.at_ns.append(at_ns)
        found.thread.append(self._thread[index])
        found.label.append(label)
        found.is_outermost_begin.append(False)
        found.waits_for_device.append(is_end and self._waits[index])
        found.call.append(-1 if is_end else self._call[index])
        self._began.setdefault(index, len(found.at_ns) - 1)
        found.partner.append(self._began[index])
