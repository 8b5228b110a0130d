"""The collectives in the traces of several ranks: which belong together, and who came last.

1. Those of two ranks belong together that have the same step, process group, kind and number. If
   ranks that have such a kind in a step do not have the same number of them, it cannot be known
   which belong together, and they are left out.
2. Collectives end together on all ranks, to which the clocks have been set. One that ends on a rank
   before another has arrived is not the same one, as happens where a trace has only some of its
   events.
3. A rank has arrived when its kernel begins. Up to the last arrival the others wait; from then on
   it is transfer.
"""

import collections
import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.ranks.rank_traces import RankTrace
from stepscope.analyze.traces.collective_calls import Kind
from stepscope.clock import Ints

_CLOCK_NS: Final = 50_000  # what the clocks of two ranks may still differ by
_FAR_NS: Final = 2**62


@dataclasses.dataclass(frozen=True, eq=False)
class Matched:
    """Ranks x collectives, on one clock. Of each collective, at least two ranks are there."""

    place: npt.NDArray[np.int64]  # among the rank's collectives, -1: it takes no part
    start_ns: Ints
    end_ns: Ints
    left_out: list[str]  # kinds of which the ranks have different numbers
    apart: int = 0  # those that cannot have been the same

    def __len__(self) -> int:
        return int(self.place.shape[1])

    @property
    def is_there(self) -> npt.NDArray[np.bool_]:
        return self.place >= 0

    @property
    def first_ns(self) -> Ints:
        """When the first rank arrives at each."""
        first: Ints = np.where(self.is_there, self.start_ns, _FAR_NS).min(axis=0, initial=_FAR_NS)
        return first

    @property
    def last_ns(self) -> Ints:
        """When the last rank does."""
        last: Ints = self._arrived_ns.max(axis=0, initial=-_FAR_NS)
        return last

    @property
    def waited_ns(self) -> Ints:
        waited = np.minimum(self.last_ns, self.end_ns) - self.start_ns
        return np.where(self.is_there, np.maximum(waited, 0), 0)

    @property
    def last(self) -> npt.NDArray[np.intp]:
        """The rank that comes last, -1: two come at the same time."""
        return np.where(self.held_ns > 0, np.argmax(self._arrived_ns, axis=0), -1)

    @property
    def held_ns(self) -> Ints:
        """How long before the last rank the next-to-last one came."""
        in_order = np.sort(self._arrived_ns, axis=0)
        held: Ints = in_order[-1] - in_order[-2]
        return held

    @property
    def _arrived_ns(self) -> Ints:
        return np.where(self.is_there, self.start_ns, -_FAR_NS)


def matched(ranks: list[RankTrace]) -> Matched:
    """Those of at least two ranks."""
    keys = [each.calls.keys for each in ranks]
    uneven = _uneven(ranks)
    ranks_of = collections.Counter(key for each in keys for key in each if key[0] not in uneven)
    shared = [key for key, count in ranks_of.items() if count > 1]
    column = {key: index for index, key in enumerate(shared)}
    place = np.full((len(ranks), len(shared)), -1, np.int64)
    for row, each in enumerate(keys):
        for index, key in enumerate(each):
            if key in column:
                place[row, column[key]] = index
    start, end = np.zeros_like(place), np.zeros_like(place)
    for row, rank in enumerate(ranks):
        there = place[row] >= 0
        start[row, there] = rank.calls.start_ns[place[row, there]]
        end[row, there] = rank.calls.end_ns[place[row, there]]
    found = Matched(place, start, end, sorted({kind.name for kind in uneven}))
    return _without_apart(found)


def _uneven(ranks: list[RankTrace]) -> set[Kind]:
    """Of which the ranks that have any have different numbers."""
    counts: dict[Kind, set[int]] = collections.defaultdict(set)
    for each in ranks:
        for kind, count in collections.Counter(each.calls.kind).items():
            counts[kind].add(count)
    return {kind for kind, different in counts.items() if len(different) > 1}


def _without_apart(found: Matched) -> Matched:
    ended = np.where(found.is_there, found.end_ns, _FAR_NS).min(axis=0, initial=_FAR_NS)
    is_one = found.last_ns <= ended + _CLOCK_NS
    return Matched(
        found.place[:, is_one], found.start_ns[:, is_one], found.end_ns[:, is_one],
        found.left_out, apart=int((~is_one).sum()),
    )  # fmt: skip
