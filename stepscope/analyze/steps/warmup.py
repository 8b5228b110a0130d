"""How many steps are warm-up: until step times have settled."""

from typing import Final

import numpy as np

from stepscope.clock import Ints

ENOUGH_STEPS: Final = 20
LEAST_WARMUP: Final = 5
SLOW: Final = 1.5  # a first step of a short run counts as warm-up if it is this much slower
TOLERANCE: Final = 0.10


def warmup_steps(duration_ns: Ints) -> int:
    """Number of leading steps that are slower than what the run settles to.

    1. Short runs: leading steps that are clearly slower than the rest, a quarter at most.
    2. The level is the median of the second half; its spread the median deviation from it.
    3. Warm-up ends with the first window whose median is within the tolerance of the level: 10 %
       or what chance alone does to such a median. If none is in the first half, times drift for the
       whole run, and that is not warm-up.
    """
    count = len(duration_ns)
    if count < ENOUGH_STEPS:
        return _slow_start(duration_ns)
    durations = duration_ns.astype(np.float64)
    later = durations[count // 2 :]
    level = float(np.median(later))
    deviation = 1.4826 * float(np.median(np.abs(later - level)))
    window = max(LEAST_WARMUP, min(count // 20, 100))
    chance = 3 * 1.2533 * deviation / window**0.5  # standard error of a median
    limit = level + max(TOLERANCE * level, chance)
    for first in range(LEAST_WARMUP, max(LEAST_WARMUP, count // 2) + 1):
        if float(np.median(durations[first : first + window])) <= limit:
            return _past_outliers(durations, first, limit)
        if first - LEAST_WARMUP > 10_000:
            break
    return LEAST_WARMUP


def _past_outliers(
    durations: np.ndarray[tuple[int], np.dtype[np.float64]], first: int, limit: float
) -> int:
    """Slow steps at the start of a settled window still belong to the warm-up."""
    for index in range(first, min(first + LEAST_WARMUP, len(durations) // 2)):
        if durations[index] <= limit:
            return index
    return first


def _slow_start(duration_ns: Ints) -> int:
    count = len(duration_ns)
    for index in range(count // 4):
        if duration_ns[index] <= SLOW * float(np.median(duration_ns[index + 1 :])):
            return index
    return count // 4
