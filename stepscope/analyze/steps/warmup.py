"""How many steps are warm-up: until step times have settled."""

from typing import Final

import numpy as np

from stepscope.clock import Ints

ENOUGH_STEPS: Final = 20
LEAST_WARMUP: Final = 5
SLOW: Final = 1.5  # a first step of a short run counts as warm-up if it is this much slower
TOLERANCE: Final = 0.10
WINDOW: Final = 5  # steps that are looked at together: one may be slow by chance
# Of the steps. What is slow for longer than half of that is the machine's or the script's way, not
# a beginning: a third of a run must not be left out because somebody else was busy at first.
AHEAD: Final = 0.25
# How often the level is computed anew while the end is looked for: it takes all the steps ahead.
_LEVELS: Final = 100


def warmup_steps(duration_ns: Ints) -> int:
    """Number of leading steps that are slower than what soon follows them.

    1. Short runs: leading steps that are clearly slower than the rest, a quarter at most.
    2. The level is the median of the next quarter of the run; its spread the median deviation from
       it. It is not that of the whole run: times that drift, or are disturbed for a while, are not
       warm-up.
    3. Warm-up ends with the first window that has steps at that level: within the tolerance of 10 %
       or what chance alone does to a median. While code is compiled and caches are cold, no step is
       that fast; with a busy neighbour, some are. If there is no such window, only steps that are
       clearly slower than the level count.
    """
    count = len(duration_ns)
    if count < ENOUGH_STEPS:
        return _slow_start(duration_ns)
    last = max(LEAST_WARMUP, int(AHEAD * count))
    at_once = 1 + last // _LEVELS
    for first in range(LEAST_WARMUP, last + 1, at_once):
        limit = _limit(duration_ns, first)
        settled = np.flatnonzero(_second_fastest(duration_ns, first, at_once) <= limit)
        if len(settled) and first + int(settled[0]) <= last:
            return _past_slow(duration_ns, first + int(settled[0]), limit)
    return _past_slow(duration_ns, LEAST_WARMUP, SLOW * _limit(duration_ns, LEAST_WARMUP))


def _second_fastest(durations: Ints, first: int, count: int) -> Ints:
    """Of each window, from the first on."""
    steps = durations[first : first + count + WINDOW - 1]
    windows = np.lib.stride_tricks.sliding_window_view(steps, WINDOW)
    fastest: Ints = np.partition(windows, 1, axis=1)[:, 1]
    return fastest


def _limit(durations: Ints, first: int) -> float:
    """How long a step may take that belongs to what follows."""
    begin = first + WINDOW
    ahead = durations[begin : begin + max(ENOUGH_STEPS // 2, int(AHEAD * len(durations)))]
    level = float(np.median(ahead))
    deviation = 1.4826 * float(np.median(np.abs(ahead - level)))
    chance = 3 * 1.2533 * deviation / WINDOW**0.5  # standard error of a median
    return level + max(TOLERANCE * level, chance)


def _past_slow(durations: Ints, first: int, limit: float) -> int:
    """Slow steps at the start of a settled window still belong to the warm-up."""
    most = max(2 * LEAST_WARMUP, int(AHEAD * len(durations)))
    for index in range(first, min(first + WINDOW, most + 1)):
        if durations[index] <= limit:
            return index
    return first


def _slow_start(duration_ns: Ints) -> int:
    count = len(duration_ns)
    for index in range(count // 4):
        if duration_ns[index] <= SLOW * float(np.median(duration_ns[index + 1 :])):
            return index
    return count // 4
