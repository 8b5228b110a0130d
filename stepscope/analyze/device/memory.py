"""The device's memory over time, and what is allocated at the peak, by operator.

A trace has what was allocated and freed while it was recorded. Memory that was there before is
known only if it is freed in the trace: it counts from the beginning then. Old traces do not say
which allocation a free belongs to: they have no rows for what was alive.
"""

import collections
from typing import Final

import numpy as np

from stepscope.analyze.device.operators_around import operators_around
from stepscope.analyze.traces.devices import PARTS, Table, Work, works_of
from stepscope.analyze.traces.nesting import Indices
from stepscope.importers.trace import Trace
from stepscope.model.device import AliveRow, DeviceMemory

_MOST_ROWS: Final = 25


def memory(works: list[Work]) -> DeviceMemory | None:
    """Of the window with the highest peak; None: no trace has memory events, or a trace has several
    devices, because the events do not say which device they are about."""
    found = [_of_trace(work.trace) for work in works if len(works_of(work.trace)) == 1]
    known = [each for each in found if each is not None]
    return max(known, key=lambda each: each.peak_bytes, default=None)


def _of_trace(trace: Trace) -> DeviceMemory | None:
    events = trace.memory[trace.memory["is_device"]]
    if not len(events):
        return None
    events = events[np.argsort(events["at_ns"], kind="stable")]
    freed_at = _freed_at(events)
    earlier = _is_earlier(events, freed_at)
    has_addresses = bool(events["address"].any())
    least = int(np.cumsum(events["bytes"]).min())
    before = -int(events["bytes"][earlier].sum()) if has_addresses else -min(0, least)
    held = before + np.cumsum(events["bytes"])
    peak = int(np.argmax(held))
    first, last = int(events["at_ns"][0]), int(events["at_ns"][-1])
    return DeviceMemory(
        peak_bytes=int(held[peak]), peak_at_ns=int(events["at_ns"][peak]) - first,
        span_ns=last - first, over_time=_largest(events["at_ns"] - first, held, before),
        alive=_alive(trace, events, freed_at, earlier, peak) if has_addresses else [],
    )  # fmt: skip


def _freed_at(events: Table) -> Indices:
    """For each allocation, the event that frees it; the number of events: none does."""
    freed = np.full(len(events), len(events), np.int64)
    current: dict[int, int] = {}
    sizes, addresses = events["bytes"].tolist(), events["address"].tolist()
    for index, (size, address) in enumerate(zip(sizes, addresses, strict=True)):
        if size > 0:
            current[address] = index
        elif address in current:
            freed[current.pop(address)] = index
    return freed


def _is_earlier(events: Table, freed_at: Indices) -> Table:
    """Frees of what was allocated before the trace began."""
    is_matched = np.zeros(len(events) + 1, np.bool_)
    is_matched[freed_at] = True
    return (events["bytes"] < 0) & ~is_matched[:-1]


def _largest(at_ns: Table, held: Table, before: int) -> list[int]:
    """In each equal part of the time; what is held at its beginning counts."""
    part = np.minimum(at_ns * PARTS // max(1, int(at_ns[-1])), PARTS - 1)
    found, carried = [], before
    bounds = np.searchsorted(part, np.arange(PARTS + 1))
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        found.append(max(carried, int(held[first:last].max(initial=0))))
        carried = int(held[last - 1]) if last > first else carried
    return found


def _alive(
    trace: Trace, events: Table, freed_at: Indices, earlier: Table, peak: int
) -> list[AliveRow]:
    index = np.arange(len(events))
    alive = events[(index <= peak) & (events["bytes"] > 0) & (freed_at > peak)]
    by_operator: dict[str | None, list[int]] = collections.defaultdict(lambda: [0, 0])
    for name, size in zip(
        operators_around(trace, alive, "at_ns"), alive["bytes"].tolist(), strict=True
    ):
        by_operator[name][0] += size
        by_operator[name][1] += 1
    rows = [AliveRow(operator=name, size_bytes=size, allocations=count)
            for name, (size, count) in by_operator.items()]  # fmt: skip
    still = -events["bytes"][earlier & (index > peak)]
    if len(still):
        rows.append(AliveRow(operator=None, size_bytes=int(still.sum()), allocations=len(still),
                             is_earlier=True))  # fmt: skip
    return sorted(rows, key=lambda row: -row.size_bytes)[:_MOST_ROWS]
