"""The totals of each function, and of each pair of caller and callee, from the call tree.

Steps: own time is what a node's children leave of its time; our own functions are taken out, their
callees belong to the caller of ours; a call is primitive when the same function (for pairs: the
same pair) is not on the path above it. Only primitive calls add to inclusive time, as in pstats.
"""

import dataclasses

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
    own = own_ticks(calls)
    above = _callers(calls)
    nodes = np.flatnonzero((calls.function > 0) & (calls.calls > 0))
    function = calls.function[nodes]
    caller = np.where(above[nodes] >= 0, calls.function[above[nodes]], -1)
    scale = int(calls.function.max(initial=0)) + 1
    pair = np.full(len(calls.function), -1, np.int64)
    pair[nodes] = np.where(caller > 0, caller * scale + function, -1)
    figures = calls.calls[nodes], own[nodes], calls.ticks[nodes]
    inner = _is_below_itself(calls.function, above, nodes)
    by_function = _sums(function, inner, *figures, clock)
    called = nodes[pair[nodes] >= 0]
    figures = calls.calls[called], own[called], calls.ticks[called]
    pairs = _sums(pair[called], _is_below_itself(pair, above, called), *figures, clock)
    return CallTotals(by_function, {divmod(key, scale): counts for key, counts in pairs.items()})


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


def _sums(
    key: Ints, is_inner: Bools, calls: Ints, own: Ints, ticks: Ints, clock: Clock
) -> dict[int, Counts]:
    keys, where = np.unique(key, return_inverse=True)
    outer = ~is_inner
    columns = [
        sums(where, calls, len(keys)),
        sums(where, calls * outer, len(keys)),
        clock.duration_ns(sums(where, own, len(keys)).astype(np.uint64)),
        clock.duration_ns(sums(where, ticks * outer, len(keys)).astype(np.uint64)),
    ]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {number: Counts(*row) for number, row in zip(keys.tolist(), rows, strict=True)}
