"""Numbers over time, to be drawn as curves on the timeline: CPU, memory, ready batches, device."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.counters import grown
from stepscope.analyze.memory_curve import highest
from stepscope.analyze.timeline.one_clock import Member
from stepscope.analyze.timeline.spans import Row
from stepscope.analyze.timeline.tracks import memory_points
from stepscope.clock import Ints
from stepscope.model.timeline import Counter
from stepscope.store.format import SpanCategory

_PARTS: Final = 400  # points of a curve
_FETCH: Final = "fetch"  # a worker made one batch


def counter_tracks(members: list[Member], rows: list[Row]) -> list[Counter]:
    found: list[Counter] = []
    for number, member in enumerate(members):
        found += [each for each in (_cpu(number, member), _memory(number, member)) if each]
        if queue := _ready_batches(number, member, members):
            found.append(queue)
        found += _devices(number, [row for row in rows if row.process == number])
    return found


def _cpu(number: int, member: Member) -> Counter | None:
    """How many cores it kept busy."""
    cpu = member.process.cpu
    if len(cpu) < 2:
        return None
    at_ns = cpu.at_ns
    parts = min(_PARTS, len(cpu) - 1)
    edges = np.linspace(at_ns.min(), at_ns.max(), parts + 1)
    window = edges[:-1].astype(np.int64), edges[1:].astype(np.int64)
    used = grown(at_ns, cpu.process_ns, window) / np.maximum(1, np.diff(edges))
    return _counter(number, "CPU", "cores", window[0] - member.zero_ns, np.maximum(0, used))


def _memory(number: int, member: Member) -> Counter | None:
    points = list(memory_points(member))
    if len(points) < 2:
        return None
    at_ns, resident = np.array(points, np.int64).T
    at_ns, resident = highest(at_ns, resident, _PARTS)
    return _counter(number, "memory", "bytes", at_ns, resident.astype(np.float64))


def _ready_batches(number: int, member: Member, members: list[Member]) -> Counter | None:
    """Made by its workers, and not yet taken: 0 means that the next step waits."""
    workers = [each for each in members if each.process.info.parent_pid == member.pid]
    made = np.sort(np.concatenate([np.zeros(0, np.int64), *map(_fetched, workers)]))
    taken = member.process.spans.of(SpanCategory.INPUT)
    ends = np.sort(taken.end_ns[taken.has_ended] - member.zero_ns)
    if not len(made) or not len(ends):
        return None
    moments = np.unique(np.concatenate([made, ends]))
    ready = np.searchsorted(made, moments, "right") - np.searchsorted(ends, moments, "right")
    every = -(-len(moments) // (2 * _PARTS))
    values = np.maximum(0, ready).astype(np.float64)
    return _counter(number, "batches ready", "batches", moments[::every], values[::every])


def _fetched(worker: Member) -> Ints:
    process = worker.process
    stages = process.spans.of(SpanCategory.STAGE)
    names = process.names.spans
    known = {number for number, each in names.items() if each.name == _FETCH}
    mine = np.isin(stages.name, list(known)) & stages.has_ended
    ended: Ints = stages.end_ns[mine] - worker.zero_ns
    return ended


def _devices(number: int, rows: list[Row]) -> Iterator[Counter]:
    """How much of the time something ran on each, whatever its stream."""
    on_device = [row for row in rows if row.kind == "device"]
    for device in dict.fromkeys(row.thread.partition(", stream")[0] for row in on_device):
        mine = [r for r in on_device if r.thread.partition(", stream")[0] == device]
        start = np.concatenate([row.spans.start_ns for row in mine])
        end = np.concatenate([row.spans.end_ns for row in mine])
        if len(start):
            at_ns, share = _busy(start, end)
            yield _counter(number, f"{device} busy", "share", at_ns, share)


def _busy(start: Ints, end: Ints) -> tuple[Ints, npt.NDArray[np.float64]]:
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    before = np.concatenate([[start[0]], reach[:-1]])
    fresh = np.maximum(0, reach - np.maximum(start, before))  # what the ones before did not cover
    edges = np.linspace(start[0], reach[-1], _PARTS + 1)
    # Cumulative busy time is known at each reach, and does not grow until the next one begins.
    points = np.stack([np.maximum(start, before), reach], axis=1).reshape(-1)
    sums = np.cumsum(np.stack([np.zeros(len(fresh)), fresh], axis=1).reshape(-1))
    share = np.diff(np.interp(edges, points, sums)) / np.maximum(1e-9, np.diff(edges))
    return edges[:-1].astype(np.int64), np.clip(share, 0, 1)


def _counter(
    process: int, title: str, unit: str, at_ns: Ints, values: npt.NDArray[np.float64]
) -> Counter:
    return Counter(
        process=process, title=title, unit=unit, at_ns=at_ns.tolist(),
        values=[float(f"{each:.7g}") for each in values.tolist()],
    )  # fmt: skip
