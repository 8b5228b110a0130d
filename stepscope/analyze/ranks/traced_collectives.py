"""The collectives in the traces of several ranks: which belong together, and who came last.

1. A collective is known by its process group, its kind, and its number among those; where a trace
   does not say that, by the kernel's name. If the ranks do not have the same number of a kind, it
   cannot be known which belong together, and that kind is left out.
2. Collectives end together on all ranks. The clocks of the ranks are shifted so that they do. One
   that ends on a rank before another has arrived is not the same one, as happens where a trace has
   only some of its events.
3. A rank has arrived when its kernel begins. Up to the last arrival the others wait; from then on
   it is transfer.
"""

import collections
import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.devices import Table, Work
from stepscope.clock import Ints
from stepscope.importers.collectives import Collective
from stepscope.importers.importer import importer_of
from stepscope.importers.runtime_names import is_collective
from stepscope.importers.trace import Category

_Key = tuple[str, str, int]  # group, kind, number
_CLOCK_NS: Final = 50_000  # what the clocks of two ranks may differ by after the shift
_BYTES: Final = {
    "Double": 8, "Long": 8, "Float": 4, "Int": 4, "BFloat16": 2, "Half": 2, "Short": 2,
}  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False)
class RankTrace:
    """One rank's device, and the collectives on it in order."""

    rank: int
    work: Work
    events: Table  # the kernels of collectives
    told: list[Collective | None]  # what the trace says about each

    @property
    def end_ns(self) -> Ints:
        ends: Ints = self.events["start_ns"] + self.events["duration_ns"]
        return ends

    def kind(self, index: int) -> tuple[str, str]:
        """Group and name."""
        about = self.told[index]
        if about is not None:
            return about.group, about.name
        return "", self.work.trace.names[self.events["name"][index]]


@dataclasses.dataclass(frozen=True, eq=False)
class Matched:
    """Ranks x collectives, on one clock."""

    place: npt.NDArray[np.int64]  # among the rank's collectives
    start_ns: Ints
    end_ns: Ints
    left_out: list[str]  # kinds of which the ranks have different numbers
    apart: int = 0  # those that cannot have been the same

    def __len__(self) -> int:
        return int(self.place.shape[1])

    @property
    def waited_ns(self) -> Ints:
        waited: Ints = np.minimum(self.start_ns.max(axis=0), self.end_ns) - self.start_ns
        return np.maximum(waited, 0)

    @property
    def last(self) -> npt.NDArray[np.intp]:
        last: npt.NDArray[np.intp] = np.argmax(self.start_ns, axis=0)
        return last

    @property
    def held_ns(self) -> Ints:
        """How long before the last rank the next-to-last one came."""
        in_order = np.sort(self.start_ns, axis=0)
        held: Ints = in_order[-1] - in_order[-2]
        return held


def rank_trace(rank: int, work: Work) -> RankTrace:
    names = np.array([is_collective(name) for name in work.trace.names] or [False])
    is_one = names[work.events["name"]] & (work.events["category"] == Category.KERNEL)
    events = work.events[is_one]
    known = {each.correlation: each for each in importer_of(work.trace.path).collectives(
        work.trace.path)}  # fmt: skip
    return RankTrace(
        rank, work, events, [known.get(each) for each in events["correlation"].tolist()]
    )


def matched(ranks: list[RankTrace]) -> Matched:
    """Those that all ranks have."""
    numbered = [_numbered(each) for each in ranks]
    counts = [collections.Counter(key[:2] for key in each) for each in numbered]
    kinds = {kind for count in counts for kind in count}
    same = {kind for kind in kinds if len({count[kind] for count in counts}) == 1}
    keys = [key for key in numbered[0] if key[:2] in same]
    place = np.array([[each[key] for key in keys] for each in numbered], np.int64)
    place = place.reshape(len(ranks), len(keys))
    start = np.array([each.events["start_ns"][at] for each, at in zip(ranks, place, strict=True)])
    end = np.array([each.end_ns[at] for each, at in zip(ranks, place, strict=True)])
    shift = np.median(end - end[:1], axis=1).astype(np.int64)[:, None] if len(keys) else 0
    start, end = start - shift, end - shift
    is_one = (
        start.max(axis=0) <= end.min(axis=0) + _CLOCK_NS if len(keys) else np.zeros(0, np.bool_)
    )
    return Matched(
        place[:, is_one], start[:, is_one], end[:, is_one],
        sorted({name for _, name in kinds - same}), apart=int((~is_one).sum()),
    )  # fmt: skip


def _numbered(each: RankTrace) -> dict[_Key, int]:
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    found: dict[_Key, int] = {}
    for index in range(len(each.events)):
        kind = each.kind(index)
        found[*kind, seen[kind]] = index
        seen[kind] += 1
    return found


def message_bytes(about: Collective) -> int:
    """The larger of what goes in and what comes out, as nccl-tests counts a message."""
    elements = max(about.in_elements, about.out_elements)
    return elements * _BYTES.get(about.element_type, 1)
