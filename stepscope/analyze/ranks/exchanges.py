"""What it costs the ranks to meet, apart from the wait for one that has more to do.

1. Ranks that meet often in a step come late in turns. If they met once, a rank would only wait for
   what the others do more than it in the whole step: what it waits more than the one that waits
   least. The rest of the waits is the price of meeting so often.
2. What is exchanged at one place of the step is the same in all steps: its mean is not made by the
   one time that a rank had no core. However little an exchange sends, it takes as long as those at
   the shortest of these places do.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import step_of
from stepscope.analyze.ranks.collectives import Collectives
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints

_SHORTEST: Final = 10  # percent of the places: what the very shortest takes may be chance


@dataclasses.dataclass(frozen=True)
class Exchanges:
    """Of a rank, in its mean measured step."""

    cost_ns: float
    count: float
    each_ns: float  # of the cost: what one more of them costs at least

    @property
    def saved_by_one_ns(self) -> float:
        """If all were sent at once."""
        return min(self.cost_ns, max(0.0, self.count - 1) * self.each_ns)


def exchanges(
    met: Collectives, row: int, steps: FoundSteps, waited_ns: Sequence[Ints], spent_ns: float
) -> Exchanges:
    """`waited_ns`: of all ranks, by step. `spent_ns`: by this one in the mean measured step, as in
    the breakdown."""
    step = step_of(met.arrived_local_ns[row], steps.start_ns, steps.end_ns)
    inside = met.is_there[row] & (step >= 0)
    inside[inside] = steps.is_measured[step[inside]]
    measured = max(1, int(steps.is_measured.sum()))
    count = float(inside.sum()) / measured
    own_ns = (met.spent_ns - met.waited_ns)[row, inside]
    shortest_ns = _shortest_ns(met.arrived_local_ns[row, inside], step[inside], own_ns)
    for_others, in_turns = _waits(waited_ns, row, steps.is_measured)
    each_ns = shortest_ns + in_turns / max(1.0, count)
    return Exchanges(max(0.0, spent_ns - for_others), count, each_ns)


def _shortest_ns(at_ns: Ints, step: npt.NDArray[np.intp], own_ns: Ints) -> float:
    if not len(at_ns):
        return 0.0
    order = np.argsort(at_ns, kind="stable")
    in_order = step[order]
    place = np.arange(len(order)) - np.searchsorted(in_order, in_order)
    means = np.bincount(place, weights=own_ns[order]) / np.bincount(place)
    return float(np.percentile(means, _SHORTEST))


def _waits(
    waited_ns: Sequence[Ints], row: int, is_measured: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Of the mean step: (the wait for ranks that do more in it, the rest of the waits)"""
    count = min(len(each) for each in waited_ns)
    waits = np.stack([each[:count] for each in waited_ns])[:, is_measured[:count]]
    if not waits.size:
        return 0.0, 0.0
    least = waits.min(axis=0)
    return float((waits[row] - least).mean()), float(least.mean())
