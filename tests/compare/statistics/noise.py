"""Series of step times with recorded noise, for the tests of the statistics."""

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.recorded_noise import Recorded, read
from stepscope.compare.statistics.speedup import StepTimes

LONG_BLOCK = 50  # steps: longer than a burst


def steps_of(run: Recorded, factor: float = 1.0) -> StepTimes:
    return StepTimes((run.us * 1_000 * factor).astype(np.int64))


def equal_pairs(condition: str | None = None) -> Iterator[tuple[Recorded, Recorded]]:
    """Runs of the same script, under the same condition, at the same moment."""
    for one, other in itertools.combinations(read(), 2):
        is_same = one[:3] == other[:3]
        if is_same and condition in (None, one.condition):
            yield one, other


def surrogate(run: Recorded, random: np.random.Generator, steps: int = 300) -> Recorded:
    """A run that might have been: long blocks of this one, in any order."""
    starts = random.integers(0, len(run.us) - LONG_BLOCK, -(-steps // LONG_BLOCK))
    taken = (starts[:, None] + np.arange(LONG_BLOCK)).ravel()[:steps]
    return run._replace(us=run.us[taken])
