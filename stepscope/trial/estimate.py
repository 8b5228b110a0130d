"""How much faster the rounds say it is, and how sure that is."""

import math
from typing import Final, NamedTuple

# Student's t at 99 %, two-sided, by degrees of freedom; later ones hardly differ.
_T: Final = (63.7, 9.9, 5.8, 4.6, 4.0, 3.7, 3.5, 3.4, 3.2)


class Estimate(NamedTuple):
    expected: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        return self.low > 1 or self.high < 1


def estimate(before_ms: list[float], after_ms: list[float], noise: list[float]) -> Estimate:
    logs = [math.log(b / a) for b, a in zip(before_ms, after_ms, strict=True)]
    mean = sum(logs) / len(logs)
    off = [*(each - mean for each in logs), *map(math.log, noise)]
    degrees = len(off) - 1
    spread = max(0.002, math.sqrt(sum(each**2 for each in off) / degrees))
    half = _T[min(degrees, len(_T)) - 1] * spread / math.sqrt(len(logs))
    return Estimate(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


def is_clear(found: Estimate) -> bool:
    return found.is_significant or max(-math.log(found.low), math.log(found.high)) < 0.02
