"""How many times as fast one side's steps are, with an interval that equal runs rarely leave.

The speed-up is the ratio of mean step times (or of mean times per sample), so all arithmetic is on
their logarithms: swapping the sides turns the signs, and a factor common to both cancels.

One run on each side: the half-widths of both means (`run_mean.py`) add as squares, each on the side
where it matters (Zou and Donner 2008, "MOVER"); so skewed noise gives a skewed interval.

Several runs of a side: their means show the run-to-run spread. It is pooled over both sides, and
with what the single runs say of themselves, which counts as much as that is worth: two runs alone
may agree by chance. Student's t does the rest.
"""

import dataclasses
import math
from collections.abc import Sequence

from stepscope.compare.statistics.blocks import LEVEL, HalfWidths
from stepscope.compare.statistics.run_mean import (
    CANNOT_TELL,
    OWN_DEGREES,
    RunMean,
    StepTimes,
    run_mean,
)
from stepscope.compare.statistics.students_t import two_sided

__all__ = ["Estimate", "StepTimes", "speedup"]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A ratio and its 95 % interval; above 1: faster."""

    expected: float
    low: float
    high: float

    @classmethod
    def from_log(cls, log: float, off: HalfWidths) -> "Estimate":
        return cls(math.exp(log), math.exp(log - off.below), math.exp(log + off.above))

    @property
    def is_significant(self) -> bool:
        return not self.low <= 1 <= self.high


def speedup(before: Sequence[StepTimes], after: Sequence[StepTimes], *, seed: int = 0) -> Estimate:
    """One or more runs of each side. A side without any step: nothing can be said."""
    old, new = (
        [mean for run in runs if (mean := run_mean(run, seed)) is not None]
        for runs in (before, after)
    )
    if not old or not new:
        return Estimate.from_log(0.0, HalfWidths(CANNOT_TELL, CANNOT_TELL))
    if len(old) == len(new) == 1:
        return _of_two(old[0], new[0])
    return _of_several(old, new)


def _of_two(before: RunMean, after: RunMean) -> Estimate:
    off = HalfWidths(
        math.hypot(before.off.below, after.off.above), math.hypot(before.off.above, after.off.below)
    )
    return Estimate.from_log(before.log - after.log, off)


def _of_several(before: list[RunMean], after: list[RunMean]) -> Estimate:
    old, new = _mean([run.log for run in before]), _mean([run.log for run in after])
    squares = math.fsum((run.log - old) ** 2 for run in before)
    squares += math.fsum((run.log - new) ** 2 for run in after)
    own = _mean([run.variance for run in (*before, *after)])
    degrees = OWN_DEGREES + len(before) + len(after) - 2
    variance = (OWN_DEGREES * own + squares) / degrees
    error = math.sqrt(variance * (1 / len(before) + 1 / len(after)))
    off = min(CANNOT_TELL, two_sided(LEVEL, degrees) * error)
    return Estimate.from_log(old - new, HalfWidths(off, off))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
