"""When each rank came to each collective, and how long it waited there for the last one.

A collective is known by its group and its number in it, which are the same on all ranks. A rank
that calls it (DDP: has computed its gradients) has arrived; none can go on before the last one has.
So what a rank spends in it up to that moment is waiting, and the rest is the communication itself.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_NEVER: Final = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True, eq=False)
class Collectives:
    """All matrices are ranks x collectives."""

    arrived_ns: Ints  # on the common clock
    arrived_local_ns: Ints  # on the rank's own
    is_there: npt.NDArray[np.bool_]
    waited_ns: Ints
    spent_ns: Ints  # the wait included

    def __len__(self) -> int:
        return int(self.arrived_ns.shape[1])

    @property
    def last(self) -> npt.NDArray[np.intp]:
        """The rank that came last to each."""
        arrived: Ints = np.where(self.is_there, self.arrived_ns, -_NEVER)
        last: npt.NDArray[np.intp] = np.argmax(arrived, axis=0)
        return last


@dataclasses.dataclass(frozen=True, eq=False)
class _Calls:
    """The spans of one rank. Times are its own."""

    key: list[tuple[str, int]]
    start_ns: Ints
    end_ns: Ints


def collectives(ranks: Sequence[ProcessData]) -> Collectives:
    """Those that at least two ranks took part in."""
    calls = [_calls(process) for process in ranks]
    seen: dict[tuple[str, int], set[int]] = {}
    for rank, each in enumerate(calls):
        for key in each.key:
            seen.setdefault(key, set()).add(rank)
    common = {key for key, those in seen.items() if len(those) > 1}
    column = {key: index for index, key in enumerate(key for key in seen if key in common)}
    indices = [np.array([column.get(key, -1) for key in each.key], np.intp) for each in calls]
    offsets = _offsets_ns(ranks, calls, indices)
    shape = len(ranks), len(column)
    local = np.full(shape, _NEVER, np.int64)
    for rank, (each, index) in enumerate(zip(calls, indices, strict=True)):
        kept = index >= 0
        np.minimum.at(local[rank], index[kept], each.start_ns[kept])
    is_there = local != _NEVER
    arrived = np.where(is_there, local + np.array(offsets, np.int64)[:, None], 0)
    waited = _waited(calls, indices, offsets, arrived.max(axis=0, initial=0))
    spent = _waited(calls, indices, offsets, np.full(len(column), _NEVER))
    return Collectives(arrived, np.where(is_there, local, 0), is_there, waited, spent)


def _calls(process: ProcessData) -> _Calls:
    spans = process.spans.of(SpanCategory.COMMUNICATION)
    spans = spans[(spans.number > 0) & spans.has_ended]  # otherwise it may have had no partner
    names = process.names.spans
    groups = [names[id].name if id in names else "" for id in spans.group.tolist()]
    return _Calls(list(zip(groups, spans.number.tolist(), strict=True)), *spans.interval_ns)


def _waited(
    calls: Sequence[_Calls], indices: Sequence[npt.NDArray[np.intp]], offsets: list[int], last: Ints
) -> Ints:
    """What each rank spends in each up to that moment."""
    waited = np.zeros((len(calls), len(last)), np.int64)
    for rank, (each, index) in enumerate(zip(calls, indices, strict=True)):
        kept = index >= 0
        start, end = each.start_ns[kept] + offsets[rank], each.end_ns[kept] + offsets[rank]
        before_last = np.minimum(end, last[index[kept]]) - start
        np.add.at(waited[rank], index[kept], np.maximum(before_last, 0))
    return waited


# --- one clock ------------------------------------------------------------------------------------


def _offsets_ns(
    ranks: Sequence[ProcessData], calls: Sequence[_Calls], indices: Sequence[npt.NDArray[np.intp]]
) -> list[int]:
    """What to add to each rank's times. On one host all share the same clock. Between hosts
    the wall clocks are close, and what is left is read from the collectives: they end together."""
    if len({process.info.host for process in ranks}) <= 1:
        return [0] * len(ranks)
    wall = [process.clock.wall_ns(0) for process in ranks]
    ends = [_ends(each, index, at) for each, index, at in zip(calls, indices, wall, strict=True)]
    return [at - _ahead_ns(end, ends[0]) for at, end in zip(wall, ends, strict=True)]


def _ends(calls: _Calls, index: npt.NDArray[np.intp], offset_ns: int) -> dict[int, int]:
    """Maps a collective to its end."""
    over: dict[int, int] = {}
    for column, end in zip(index.tolist(), (calls.end_ns + offset_ns).tolist(), strict=True):
        if column >= 0:
            over[column] = max(end, over.get(column, end))
    return over


def _ahead_ns(ends: dict[int, int], others: dict[int, int]) -> int:
    common = ends.keys() & others.keys()
    return int(np.median([ends[key] - others[key] for key in common])) if common else 0
