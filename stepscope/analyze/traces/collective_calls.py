"""The collectives of a trace, so that they can be found again in the traces of the other ranks, and
how far the clocks of the ranks are apart.

A collective is known by the step in which it was launched, its process group, its kind, and its
number among those. It ends on all ranks at about the same time: what their clocks say about that is
how far they are apart.
"""

import collections
import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.launches import calls_of
from stepscope.analyze.traces.marks import STEP, interval, ranges
from stepscope.clock import Ints
from stepscope.importers.collectives import Collective
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import ON_DEVICE, Trace

_ON_HOST: Final = ("gloo:", "nccl:", "mpi:", "ucc:")  # where no device has it
_CALLS: Final = "c10d::"  # what starts them; it may return at once
_MOST: Final = 20_000  # of one trace: enough to tell, and few enough to hand around
_LEAST_SHARED: Final = 3
_Table = npt.NDArray[Any]


class Kind(NamedTuple):
    """Calls of the same kind differ by their number only."""

    step: str
    group: str  # name and ranks, as the trace has them; empty: it does not say
    name: str


@dataclasses.dataclass(frozen=True, eq=False)
class CollectiveCalls:
    """In order of their start."""

    events: _Table
    described: list[Collective | None]  # what the trace says about each
    kind: list[Kind]

    def __len__(self) -> int:
        return len(self.events)

    @property
    def start_ns(self) -> Ints:
        return interval(self.events)[0]

    @property
    def end_ns(self) -> Ints:
        return interval(self.events)[1]

    @property
    def keys(self) -> list[tuple[Kind, int]]:
        """The same on all ranks."""
        seen: collections.Counter[Kind] = collections.Counter()
        found = []
        for kind in self.kind:
            seen[kind] += 1
            found.append((kind, seen[kind]))
        return found


def collective_calls(
    trace: Trace, events: _Table, known: Mapping[int, Collective] | None = None
) -> CollectiveCalls:
    """Those among these events; `known`: what the trace says about them, by correlation."""
    names = np.array([is_collective(name) for name in trace.names] or [False])
    events = events[names[events["name"]]]
    return _calls(trace, events, known or {})


def host_collectives(trace: Trace) -> CollectiveCalls:
    """The ranges in which the host waits for them, where nothing ran on a device."""
    found = ranges(trace, *_ON_HOST)
    return _calls(trace, found if len(found) else ranges(trace, _CALLS), {})


def _calls(trace: Trace, events: _Table, known: Mapping[int, Collective]) -> CollectiveCalls:
    events = events[np.argsort(events["start_ns"], kind="stable")]
    described = [known.get(each) for each in events["correlation"].tolist()]
    steps = _steps(trace, events)
    kinds = [
        Kind(step, *((f"{about.group} {about.ranks}", about.name) if about else ("", _short(name))))
        for step, about, name in zip(
            steps, described, (trace.names[each] for each in events["name"].tolist()), strict=True
        )
    ]
    return CollectiveCalls(events, described, kinds)


def collective_ends(trace: Trace) -> dict[str, int]:
    """When each ended; on the host, if no device has any."""
    calls = collective_calls(trace, trace.of(*ON_DEVICE))
    if not len(calls):
        calls = host_collectives(trace)
    keys = [" ".join([*kind, str(number)]) for kind, number in calls.keys[:_MOST]]
    return dict(zip(keys, calls.end_ns[:_MOST].tolist(), strict=True))


def _short(name: str) -> str:
    """Without arguments and template: those may differ between versions of the library."""
    return name.partition("(")[0]


def _steps(trace: Trace, events: _Table) -> list[str]:
    """The step that the trace marks around the launch of each; one before the first has none. A
    kernel itself may begin after its step, and on another rank within it."""
    call = calls_of(trace, events)
    launched_ns = np.where(call.is_known, call.start_ns, events["start_ns"])
    marks = ranges(trace, STEP)
    names = ["", *(trace.names[number].removeprefix(STEP) for number in marks["name"].tolist())]
    at = np.searchsorted(marks["start_ns"], launched_ns, side="right")
    return [names[index] for index in at.tolist()]


# --- one clock ------------------------------------------------------------------------------------


def shifts_ns(ends: Sequence[Mapping[str, int]]) -> list[int]:
    """What to add to the times of each trace, so that its collectives end when the first one's do;
    0 where they have too few in common."""
    return [_shift_ns(each, ends[0]) for each in ends]


def _shift_ns(mine: Mapping[str, int], others: Mapping[str, int]) -> int:
    common = mine.keys() & others.keys()
    if len(common) < _LEAST_SHARED:
        return 0
    return round(statistics.median(others[key] - mine[key] for key in common))
