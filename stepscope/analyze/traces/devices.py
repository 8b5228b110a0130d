"""Each device of a run, with what ran on it and the calls that launched that."""

import collections
import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import union
from stepscope.analyze.traces.launches import launching_calls
from stepscope.analyze.traces.marks import WAITS_FOR_DEVICE
from stepscope.analyze.traces.nesting import Indices
from stepscope.analyze.traces.windows import Window, read_window, windows
from stepscope.clock import Ints
from stepscope.importers.trace import ON_DEVICE, Category, Trace
from stepscope.store.reader import ProcessData, Run

Table = npt.NDArray[Any]
PARTS: Final = 100  # of the wall time, in figures over time


@dataclasses.dataclass(frozen=True, eq=False)
class Work:
    """What ran on one device in one trace, in the order in which it began."""

    trace: Trace
    number: int  # of the device; -1: the trace does not say
    events: Table
    calls: Table  # into the device's library, on all threads, in order
    call: Indices  # for each event, the one that launched it; -1: not known

    @property
    def start_ns(self) -> Ints:
        starts: Ints = self.events["start_ns"]
        return starts

    @functools.cached_property
    def end_ns(self) -> Ints:
        ends: Ints = self.events["start_ns"] + self.events["duration_ns"]
        return ends

    @functools.cached_property
    def busy(self) -> tuple[Ints, Ints]:
        return union(self.start_ns, self.end_ns)

    @functools.cached_property
    def is_wait(self) -> npt.NDArray[np.bool_]:
        """Which of the calls hold the host up until the device is done: those whose names say so,
        and those that copy and return only when the copy is done, as from pageable memory."""
        names = [WAITS_FOR_DEVICE.search(name) is not None for name in self.trace.names] or [False]
        found: npt.NDArray[np.bool_] = np.array(names, np.bool_)[self.calls["name"]]
        copied = np.flatnonzero((self.call >= 0) & (self.events["category"] == Category.MEMCPY))
        call = self.call[copied]
        found[call[self.end_ns[copied] <= self.call_end_ns[call]]] = True
        return found

    @property
    def first_ns(self) -> int:
        return int(self.start_ns[0])

    @property
    def last_ns(self) -> int:
        return int(self.end_ns.max())

    def on_stream(self, number: int) -> "Work":
        here = self.events["stream"] == number
        return dataclasses.replace(self, events=self.events[here], call=self.call[here])

    @property
    def call_end_ns(self) -> Ints:
        """Of all calls."""
        ends: Ints = self.calls["start_ns"] + self.calls["duration_ns"]
        return ends


@dataclasses.dataclass(frozen=True, eq=False)
class Device:
    process: ProcessData
    rank: int | None
    file: str | None  # of a trace without a recording around it
    number: int
    windows: list[Window]  # in which it worked
    works: list[Work]  # one per window


def devices(run: Run) -> list[Device]:
    """In the order of the rows of `show device`."""
    found: list[Device] = []
    for process in run.processes:
        parts: dict[int, list[tuple[Window, Work]]] = collections.defaultdict(list)
        for window in windows(process):
            trace = read_window(window)
            for work in [] if isinstance(trace, str) else works_of(trace):
                parts[work.number].append((window, work))
        found += [_device(process, number, parts[number]) for number in sorted(parts)]
    found.sort(
        key=lambda each: (each.rank is None, each.rank or 0, each.file or "", max(0, each.number))
    )
    return found


def _device(process: ProcessData, number: int, parts: list[tuple[Window, Work]]) -> Device:
    window, work = parts[0]
    return Device(
        process=process,
        rank=rank_of(process, work.trace),
        file=window.path.name if window.start_ns is None else None,
        number=number,
        windows=[each for each, _ in parts],
        works=[each for _, each in parts],
    )


@functools.lru_cache(maxsize=16)
def works_of(trace: Trace) -> list[Work]:
    """One per device of a trace."""
    calls = trace.of(Category.RUNTIME)
    calls = calls[np.argsort(calls["start_ns"], kind="stable")]
    events = trace.of(*ON_DEVICE)
    events = events[np.argsort(events["start_ns"], kind="stable")]
    call = launching_calls(calls, events)
    found = []
    for number in np.unique(events["device"]).tolist():
        here = events["device"] == number
        found.append(Work(trace, number, events[here], calls, call[here]))
    return found


def rank_of(process: ProcessData, trace: Trace) -> int | None:
    """As the launcher numbered it, else as the trace says."""
    return process.info.rank if process.info.rank is not None else told_rank(trace.head)


def told_rank(head: dict[str, Any]) -> int | None:
    info = head.get("distributedInfo")
    rank = info.get("rank") if isinstance(info, dict) else None
    return rank if isinstance(rank, int) and rank >= 0 else None


def parts_of_time(works: list[Work]) -> Table:
    """The bounds of the equal parts into which figures over time divide the first window."""
    work = works[0]
    return np.linspace(work.first_ns, max(work.last_ns, work.first_ns + 1), PARTS + 1)
