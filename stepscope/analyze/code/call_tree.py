"""The totals of each function, and of each pair of caller and callee, from the call tree.

Steps: own time is what a node's children leave of its time; our own functions are taken out, their
callees belong to the caller of ours; a call is primitive when the same function (for pairs: the
same pair) is not on the path above it. Only primitive calls add to inclusive time, as in pstats.
"""

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.analyze.grouping import sums
from stepscope.clock import Clock
from stepscope.store.calls import Calls, Ints

Bools = npt.NDArray[np.bool_]


@dataclasses.dataclass
class Counts:
    ncalls: int = 0
    primitive_calls: int = 0
    tottime_ns: int = 0
    cumtime_ns: int = 0

    def add(self, other: "Counts") -> None:
        self.ncalls += other.ncalls
        self.primitive_calls += other.primitive_calls
        self.tottime_ns += other.tottime_ns
        self.cumtime_ns += other.cumtime_ns


@dataclasses.dataclass(frozen=True)
class CallTotals:
    by_function: dict[int, Counts]  # by id of kind "function"
    by_pair: dict[tuple[int, int], Counts]  # (caller, callee)


def call_totals(calls: Calls, clock: Clock) -> CallTotals:
    tree = _Tree(calls, own_ticks(calls), _callers(calls), clock)
    nodes = np.flatnonzero((calls.function > 0) & (calls.calls > 0))
    above = tree.above[nodes]
    caller = np.where(above >= 0, calls.function[above], -1)
    scale = int(calls.function.max(initial=0)) + 1
    pair = np.full(len(calls.function), -1, np.int64)
    pair[nodes] = np.where(caller > 0, caller * scale + calls.function[nodes], -1)
    pairs = tree.counts_by(pair, nodes[pair[nodes] >= 0])
    return CallTotals(
        by_function=tree.counts_by(calls.function, nodes),
        by_pair={divmod(key, scale): counts for key, counts in pairs.items()},
    )


class _Tree(NamedTuple):
    calls: Calls
    own: Ints
    above: Ints  # each node's caller, ours left out
    clock: Clock

    def counts_by(self, key: Ints, nodes: Ints) -> dict[int, Counts]:
        """Of these nodes, summed by their keys."""
        is_outer = ~_is_below_itself(key, self.above, nodes)
        keys, where = np.unique(key[nodes], return_inverse=True)
        ncalls, own, ticks = (
            each[nodes] for each in (self.calls.calls, self.own, self.calls.ticks)
        )
        columns = [
            sums(where, ncalls, len(keys)),
            sums(where, ncalls * is_outer, len(keys)),
            self._duration_ns(sums(where, own, len(keys))),
            self._duration_ns(sums(where, ticks * is_outer, len(keys))),
        ]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return {number: Counts(*row) for number, row in zip(keys.tolist(), rows, strict=True)}

    def _duration_ns(self, ticks: Ints) -> Ints:
        return self.clock.duration_ns(ticks.astype(np.uint64))


def own_ticks(calls: Calls) -> Ints:
    """What a node's children leave of its time."""
    own = calls.ticks.copy()
    below = np.flatnonzero(calls.parent >= 0)
    np.subtract.at(own, calls.parent[below], calls.ticks[below])
    return np.maximum(own, 0)


def _callers(calls: Calls) -> Ints:
    """For each node the nearest one above it that is not ours; -1 where that is a root."""
    above = calls.parent.copy()
    ours = np.flatnonzero((above >= 0) & (calls.function[above] == 0))
    while len(ours):
        above[ours] = calls.parent[above[ours]]
        ours = ours[(above[ours] >= 0) & (calls.function[above[ours]] == 0)]
    above[(above >= 0) & (calls.function[above] < 0)] = -1
    return above


def _is_below_itself(key: Ints, above: Ints, nodes: Ints) -> Bools:
    """Whether a node further up has the same key. All climb together and drop out when they find
    one: recursion is found within as many rounds as it has functions."""
    found = np.zeros(len(key), np.bool_)
    climbing, at = nodes, above[nodes]
    while len(climbing):
        climbing, at = climbing[at >= 0], at[at >= 0]
        same = key[at] == key[climbing]
        found[climbing[same]] = True
        climbing, at = climbing[~same], above[at[~same]]
    return found[nodes]
