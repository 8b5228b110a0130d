"""How long a device worked, computed, communicated, copied and idled, with HTA's definitions.

1. It is busy while anything runs on it: kernels, copies, memory being set. Idle is the rest.
2. Kernels of collectives communicate, all others compute. Communication is exposed while nothing
   computes.
3. A gap is the host's fault if the call that launched what ends it began after the gap did. If not,
   it is the usual distance between kernels where it is under 30 µs; else there was another reason:
   work on another stream, an event, memory. A call that is not in the trace was not late.
"""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.traces.devices import Work
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import Category, Trace
from stepscope.model.ops import IdleSplit

_KERNEL_WAIT_NS: Final = 30_000
_Table = npt.NDArray[Any]
_Union = tuple[Ints, Ints]


@dataclasses.dataclass(frozen=True, eq=False)
class Times:
    """What ran, each as a union of intervals."""

    busy: _Union
    compute: _Union
    communication: _Union
    either: _Union  # computing or communicating
    copies: _Union  # memory that is copied or set
    memset: _Union

    def between(self, start_ns: Ints, end_ns: Ints) -> dict[str, Ints]:
        """By the names that the answers have, for each of these stretches of time."""
        busy, compute, communication, either, memcpy, memset = (
            overlap_ns(start_ns, end_ns, getattr(self, field.name))
            for field in dataclasses.fields(self)
        )
        return {
            "busy_ns": busy, "compute_ns": compute, "communication_ns": communication,
            "exposed_communication_ns": either - compute, "memcpy_ns": memcpy,
            "memset_ns": memset, "idle_ns": end_ns - start_ns - busy,
        }  # fmt: skip

    def whole(self) -> dict[str, int]:
        """From the first event's start to the last one's end."""
        first, last = self.busy[0][:1], self.busy[1][-1:]
        return {name: int(ns.sum()) for name, ns in self.between(first, last).items()}


def times_of(trace: Trace, events: _Table) -> Times:
    """Of some events of a device."""
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    collective = np.array([is_collective(name) for name in trace.names] or [False], np.bool_)
    kernel = events["category"] == Category.KERNEL
    talks = kernel & collective[events["name"]]
    memset = events["category"] == Category.MEMSET
    every = np.ones(len(events), np.bool_)
    return Times(
        *(union(start[kept], end[kept]) for kept in (every, kernel & ~talks, talks, kernel)),
        *(union(start[kept], end[kept]) for kept in (~kernel, memset)),
    )


def idle_split(work: Work, busy: _Union) -> IdleSplit:
    """Why nothing ran between the busy stretches of this work."""
    begin, end = busy[1][:-1], busy[0][1:]
    call = work.call[np.searchsorted(work.start_ns, end)]
    gap = end - begin
    host = (call >= 0) & (np.append(work.calls["start_ns"], 0)[call] > begin)
    kernel = ~host & (gap < _KERNEL_WAIT_NS)
    return IdleSplit(
        host_wait_ns=int(gap[host].sum()),
        kernel_wait_ns=int(gap[kernel].sum()),
        other_ns=int(gap[~host & ~kernel].sum()),
    )
