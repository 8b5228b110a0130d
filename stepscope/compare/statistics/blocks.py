"""The mean of steps that depend on their neighbours: how far it may be off.

1. Block length: doubled until the variance of block means has settled. Lee et al. (2011), after
   Wolff (2004): the smallest L with L³ > 2·n·(s_L / s_1)⁴, where s_L is the standard error that
   blocks of L give. Independent steps get short blocks, bursts long ones.
2. Circular block bootstrap: as many blocks as fill the run, drawn again and again from any start.
   Each draw's mean is one that the run might have had.
3. The quantiles of the draws, wider by Student's t: few blocks know their own spread badly.
"""

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.compare.statistics.students_t import two_sided

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LEVEL: Final = 0.95
NORMAL: Final = two_sided(LEVEL, math.inf)
_FEWEST_BLOCKS: Final = 10  # fewer would say too little about their own spread
_MOST_BLOCKS: Final = 500  # more would take time and change nothing
_DRAWS: Final = 2_000  # each end of the interval then rests on 50 of them


class HalfWidths(NamedTuple):
    """Of an interval around a logarithm."""

    below: float
    above: float


def block_means(values: Floats, length: int) -> Floats:
    """Of whole blocks, one after the other; what is left at the end is not counted."""
    count = len(values) // length
    means: Floats = values[: count * length].reshape(count, length).mean(axis=1)
    return means


def block_length(relative: Floats) -> int:
    """In steps. `relative`: the steps in units of their mean."""
    length, count = 1, len(relative)
    naive = _variance_of_mean(relative, 1) if count > 1 else 0.0
    while naive and count // (2 * length) >= _FEWEST_BLOCKS:
        if length**3 > 2 * count * (_variance_of_mean(relative, length) / naive) ** 2:
            break
        length *= 2
    return max(length, math.ceil(count / _MOST_BLOCKS))


def _variance_of_mean(values: Floats, length: int) -> float:
    means = block_means(values, length)
    return float(means.var(ddof=1) / len(means))


def log_mean_half_widths(durations: Ints, samples: Ints, length: int, seed: int) -> HalfWidths:
    """Around the logarithm of sum(durations) / sum(samples)."""
    count = math.ceil(len(durations) / length)
    if count < 2:
        return HalfWidths(math.inf, math.inf)
    starts = np.random.default_rng(seed).integers(0, len(durations), (_DRAWS, count))
    time, work = (_drawn_sums(values, starts, length) for values in (durations, samples))
    draws = np.log(time / work) - math.log(durations.sum() / samples.sum())
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    wider = two_sided(LEVEL, count - 1) / NORMAL * math.sqrt(count / (count - 1))
    return HalfWidths(max(0.0, -float(low)) * wider, max(0.0, float(high)) * wider)


def _drawn_sums(values: Ints, starts: Ints, length: int) -> Floats:
    """The sum of each row's blocks, which go on at the beginning when they reach the end."""
    around = np.concatenate([[0], values, values[:length]]).astype(np.float64).cumsum()
    sums: Floats = (around[starts + length] - around[starts]).sum(axis=1)
    return sums
