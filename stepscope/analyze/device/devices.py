"""Each device of a run, with what ran on it and the calls that launched that."""

import collections
import dataclasses
import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import union
from stepscope.analyze.traces.nesting import Indices
from stepscope.analyze.traces.windows import read_window, windows
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

    @property
    def first_ns(self) -> int:
        return int(self.start_ns[0])

    @property
    def last_ns(self) -> int:
        return int(self.end_ns.max())

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
    works: list[Work]  # one per window


def devices(run: Run) -> list[Device]:
    """In the order of the rows of `show device`."""
    found: list[Device] = []
    for process in run.processes:
        works: dict[int, list[Work]] = collections.defaultdict(list)
        file = None
        for window in windows(process):
            trace = read_window(window)
            if isinstance(trace, str):
                continue
            for work in works_of(trace):
                if not works:
                    file = window.path.name if window.start_ns is None else None
                works[work.number].append(work)
        found += [
            Device(process, rank_of(process, works[number][0].trace), file, number, works[number])
            for number in sorted(works)
        ]
    found.sort(
        key=lambda each: (each.rank is None, each.rank or 0, each.file or "", max(0, each.number))
    )
    return found


@functools.lru_cache(maxsize=16)
def works_of(trace: Trace) -> list[Work]:
    """One per device of a trace."""
    calls = trace.of(Category.RUNTIME)
    calls = calls[np.argsort(calls["start_ns"], kind="stable")]
    events = trace.of(*ON_DEVICE)
    events = events[np.argsort(events["start_ns"], kind="stable")]
    call = _calls_of(events["correlation"], calls["correlation"])
    found = []
    for number in np.unique(events["device"]).tolist():
        here = events["device"] == number
        found.append(Work(trace, number, events[here], calls, call[here]))
    return found


def _calls_of(wanted: Ints, correlation: Ints) -> Indices:
    known = np.flatnonzero(correlation > 0)
    if not len(known):
        return np.full(len(wanted), -1, np.int64)
    order = known[np.argsort(correlation[known], kind="stable")]
    at = np.minimum(np.searchsorted(correlation[order], wanted), len(order) - 1)
    return np.where((correlation[order][at] == wanted) & (wanted > 0), order[at], -1)


def rank_of(process: ProcessData, trace: Trace) -> int | None:
    """As the launcher numbered it, else as the trace says."""
    if process.info.rank is not None:
        return process.info.rank
    info = trace.head.get("distributedInfo")
    rank = info.get("rank") if isinstance(info, dict) else None
    return rank if isinstance(rank, int) else None


def parts_of_time(works: list[Work]) -> Table:
    """The bounds of the equal parts into which figures over time divide the first window."""
    work = works[0]
    return np.linspace(work.first_ns, max(work.last_ns, work.first_ns + 1), PARTS + 1)


def names_of(work: Work, events: Table) -> list[str]:
    return [work.trace.names[index] for index in events["name"].tolist()]
