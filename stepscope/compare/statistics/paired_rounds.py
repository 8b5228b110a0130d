"""A speed-up from rounds: in each, both sides ran right after each other, on the same machine.

1. Each round gives one logarithm of a ratio: what was slow during a round was slow for both.
2. Their spread is pooled with that of the control, rounds in which both sides were the same: each
   adds a degree of freedom, since its true ratio is known to be 1. Without a control, two rounds
   say next to nothing (Student's t with one degree of freedom).
3. So where there are few, what is known of such rounds in general counts: how much two runs of the
   same script, one right after the other, differ on the busiest of machines. One round that is four
   times as fast is no chance.
4. The interval may be looked at after every round, and the rounds stopped when it is clear: that
   gives chance many tries. So each look is at a stricter level than 95 %, chosen by simulation such
   that all looks together are wrong in 5 % of the cases.
"""

import math
from collections.abc import Sequence
from typing import Final

from stepscope.compare.statistics.blocks import HalfWidths
from stepscope.compare.statistics.run_mean import CANNOT_TELL
from stepscope.compare.statistics.speedup import Estimate
from stepscope.compare.statistics.students_t import two_sided

# A look is wrong in 0.8 % of the cases, those after round 10 in less: all together in under 5 %.
_MISSES: Final = 0.008
_FULL_LOOKS: Final = 10
# Rounds that agree better than this do so by chance.
_LEAST_SPREAD: Final = 0.002
# The standard deviation of a round's logarithm that no machine exceeds. Of 141 pairs of equal runs,
# recorded while it was quiet, shared or busy, it is 0.19, 0.35 and 0.28; none is off by over 1.01.
_MOST_SPREAD: Final = 0.5
_MANY: Final = 1e9  # degrees of freedom
# A difference that nobody would notice.
_AS_GOOD_AS_EQUAL: Final = math.log(1.02)


def rounds(
    before_ms: Sequence[float], after_ms: Sequence[float], noise: Sequence[float] = ()
) -> Estimate:
    """The mean step of each side, round by round. `noise`: the ratios that the control showed."""
    logs = [
        math.log(before / after)
        for before, after in zip(before_ms, after_ms, strict=True)
        if before > 0 and after > 0
    ]
    if not logs:
        return Estimate.from_log(0.0, HalfWidths(CANNOT_TELL, CANNOT_TELL))
    mean = math.fsum(logs) / len(logs)
    off = _half_width(
        [log - mean for log in logs], [math.log(ratio) for ratio in noise if ratio > 0]
    )
    return Estimate.from_log(mean, HalfWidths(off, off))


def _half_width(deviations: list[float], control: list[float]) -> float:
    level = 1 - _MISSES * min(1.0, _FULL_LOOKS / len(deviations)) ** 2
    off = two_sided(level, _MANY) * _MOST_SPREAD
    degrees = len(deviations) - 1 + len(control)
    if degrees:
        squares = math.fsum(each**2 for each in (*deviations, *control))
        spread = max(_LEAST_SPREAD, math.sqrt(squares / degrees))
        off = min(off, two_sided(level, degrees) * spread)
    return off / math.sqrt(len(deviations))


def is_clear(estimate: Estimate) -> bool:
    """Whether more rounds are not needed: the sides differ, or as good as not at all."""
    log_low, log_high = math.log(estimate.low), math.log(estimate.high)
    return estimate.is_significant or max(-log_low, log_high) < _AS_GOOD_AS_EQUAL
