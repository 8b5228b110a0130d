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

from stepscope.analyze.intervals import overlap_ns, without
from stepscope.analyze.ranks.rank_traces import RankTrace
from stepscope.analyze.ranks.traced_collectives import Matched
from stepscope.clock import Ints
from stepscope.model.ranks import ArrivalRow

_Kind = Literal["compute", "input", "host"]
_KINDS: Final[tuple[_Kind, ...]] = ("compute", "input", "host")
_FAR_NS: Final = 2**62


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
            rank=each.number, last=int(mine.sum()), held_ms=float(held[mine].sum()) / 1e6,
            waiting_ms=float(waited[row].sum()) / 1e6, compute_ms=totals["compute"] / 1e6,
            input_ms=totals["input"] / 1e6, host_ms=totals["host"] / 1e6,
            why=_why(spent, met, row, mine) if mine.any() else None,
        ))  # fmt: skip
    return rows


def _spent(each: RankTrace, met: Matched, row: int) -> dict[_Kind, Ints]:
    """By collective, up to its arrival; 0 for those in which it takes no part."""
    there = met.is_there[row]
    arrived = each.calls.start_ns[met.place[row, there]]
    in_order = np.sort(each.calls.end_ns)
    at = np.searchsorted(in_order, arrived, side="right") - 1
    begin = min(int(each.steps[0].min()), int(arrived.min(initial=_FAR_NS)))
    since = np.where(at >= 0, in_order[np.maximum(at, 0)], begin)
    compute = overlap_ns(since, arrived, each.compute)
    fetched = overlap_ns(since, arrived, without(each.fetches, each.compute))
    host = arrived - since - compute - fetched
    return {
        "compute": _by_collective(there, compute), "input": _by_collective(there, fetched),
        "host": _by_collective(there, host),
    }  # fmt: skip


def _by_collective(there: npt.NDArray[np.bool_], ns: Ints) -> Ints:
    found = np.zeros(len(there), np.int64)
    found[there] = ns
    return found


def _why(
    spent: list[dict[_Kind, Ints]], met: Matched, row: int, mine: npt.NDArray[np.bool_]
) -> _Kind:
    """What it spends more on than the others do, before the collectives that it comes last to."""
    others = [n for n in range(len(spent)) if n != row and met.is_there[n, mine].any()]
    excess = {
        kind: int(spent[row][kind][mine].sum())
        - statistics.median(int(spent[n][kind][mine].sum()) for n in others)
        for kind in _KINDS
    }
    return max(_KINDS, key=lambda kind: excess[kind])
