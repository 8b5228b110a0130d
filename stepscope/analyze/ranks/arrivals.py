"""Who comes last to the collectives, and what it did instead: compute, wait for a batch, or other
work of the host.

The time from the end of the rank's collective before to its arrival is divided: something else runs
on its device (compute), or nothing does while the host fetches a batch (input) or not (host).
The rank that comes last does so because of what it spends more on than the others.
"""

import statistics
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.ranks.traced_collectives import Matched, RankTrace
from stepscope.clock import Ints
from stepscope.importers.runtime_names import is_collective
from stepscope.model.ranks import ArrivalRow

_Kind = Literal["compute", "input", "host"]
_KINDS: Final[tuple[_Kind, ...]] = ("compute", "input", "host")
_FETCHES: Final = ("enumerate(DataLoader)", "DataLoader", "IteratorGetNext")


def arrival_rows(ranks: list[RankTrace], met: Matched) -> list[ArrivalRow]:
    if len(ranks) < 2 or not len(met):
        return []
    spent = [_spent(each, met, row) for row, each in enumerate(ranks)]
    waited, held, last = met.waited_ns, met.held_ns, met.last
    rows = []
    for row, each in enumerate(ranks):
        mine = last == row
        totals = {kind: int(spent[row][kind].sum()) for kind in _KINDS}
        rows.append(ArrivalRow(
            rank=each.rank, last=int(mine.sum()), held_ms=float(held[mine].sum()) / 1e6,
            waiting_ms=float(waited[row].sum()) / 1e6, compute_ms=totals["compute"] / 1e6,
            input_ms=totals["input"] / 1e6, host_ms=totals["host"] / 1e6,
            why=_why(spent, row, mine) if mine.any() else None,
        ))  # fmt: skip
    return rows


def _spent(each: RankTrace, met: Matched, row: int) -> dict[_Kind, Ints]:
    """By collective, up to its arrival."""
    place = met.place[row]
    arrived = each.events["start_ns"][place]
    in_order = np.sort(each.end_ns)
    at = np.searchsorted(in_order, arrived, side="right") - 1
    first = each.work.first_ns
    since = np.where(at >= 0, in_order[np.maximum(at, 0)], min(first, int(arrived.min())))
    computing = compute_of(each)
    idle = (arrived - since) - overlap_ns(since, arrived, computing)
    busy = union(np.concatenate([computing[0], fetches_of(each)[0]]),
                 np.concatenate([computing[1], fetches_of(each)[1]]))  # fmt: skip
    fetched = overlap_ns(since, arrived, busy) - overlap_ns(since, arrived, computing)
    return {"compute": arrived - since - idle, "input": fetched, "host": idle - fetched}


def compute_of(each: RankTrace) -> tuple[Ints, Ints]:
    """When something else than a collective ran on the device: a union."""
    names = np.array([is_collective(name) for name in each.work.trace.names] or [False])
    kept = ~names[each.work.events["name"]]
    return union(each.work.start_ns[kept], each.work.end_ns[kept])


def fetches_of(each: RankTrace) -> tuple[Ints, Ints]:
    """When the host fetched a batch: a union."""
    trace = each.work.trace
    wanted = [n for n, name in enumerate(trace.names) if name.startswith(_FETCHES)]
    events = trace.events[np.isin(trace.events["name"], wanted)]
    return union(events["start_ns"], events["start_ns"] + events["duration_ns"])


def _why(spent: list[dict[_Kind, Ints]], row: int, mine: npt.NDArray[np.bool_]) -> _Kind:
    """What it spends more on than the others do, before the collectives that it comes last to."""
    excess = {}
    for kind in _KINDS:
        others = [int(each[kind][mine].sum()) for n, each in enumerate(spent) if n != row]
        excess[kind] = int(spent[row][kind][mine].sum()) - statistics.median(others)
    return max(_KINDS, key=lambda kind: excess[kind])
