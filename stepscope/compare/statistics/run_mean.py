"""The mean step of one run, and where the mean of another run of the same script might lie.

Equal runs differ for four reasons. Each has a half-width of its own; they add as squares.

1. Which steps the run happened to have: `blocks.py`, from the steps themselves.
2. What is slower than steps: other processes, the clock rate, the neighbours on the host. Such
   noise has no longest scale: whatever makes the eighths of a run differ by more than independent
   steps would also makes whole runs differ, by some more (`DRIFT_GOES_ON`).
3. What is settled when a process starts and is then the same in all its steps (where its memory
   lies, on which core it runs). One run does not show it: `USUAL_RUN_TO_RUN` was measured.
4. Steps that are too rare for a short run to have any: see `_unseen`.

The constants were chosen on what benchmarks/same_runs.py recorded, such that at most 5 % of the
pairs of equal runs of 300 steps are told apart (tests/compare/statistics/test_equal_runs.py).
"""

import dataclasses
import functools
import math
from typing import Final

import numpy as np

from stepscope.compare.statistics.blocks import (
    LEVEL,
    NORMAL,
    Floats,
    HalfWidths,
    Ints,
    block_length,
    block_means,
    log_mean_half_widths,
)
from stepscope.compare.statistics.students_t import two_sided

# The standard deviation of the mean step between equal runs, beyond what their own steps show.
USUAL_RUN_TO_RUN: Final = 0.02
DRIFT_GOES_ON: Final = 2.0  # the variance between runs, in units of that between parts of a run
DRIFT_DEGREES: Final = 4  # of freedom: eight parts that follow each other are not independent
RARE_STEP: Final = 1.0  # what a step of a kind not seen may add to the mean of all, in mean steps
CANNOT_TELL: Final = math.log(1_000)  # the half-width of an interval that says nothing
_PARTS: Final = 8


@dataclasses.dataclass(frozen=True, eq=False)
class StepTimes:
    """One run: its measured steps, in order."""

    duration_ns: Ints
    samples: Ints | None = None  # per step, if runs are compared by sample

    @functools.cached_property
    def usable(self) -> tuple[Ints, Ints]:
        """Durations and samples; without samples, each step counts as one."""
        samples = np.ones_like(self.duration_ns) if self.samples is None else self.samples
        sane = (self.duration_ns > 0) & (samples > 0)
        return self.duration_ns[sane], samples[sane]


@dataclasses.dataclass(frozen=True)
class RunMean:
    """The logarithm of the mean step (or of the mean time per sample) of one run."""

    log: float
    steps: HalfWidths  # which steps it happened to have
    drift: float  # the standard deviation between runs that its own parts suggest
    unseen: float  # half-width

    @property
    def off(self) -> HalfWidths:
        """The 95 % interval for other runs of the same script."""
        drift = two_sided(LEVEL, DRIFT_DEGREES) * self.drift
        others = (drift, NORMAL * USUAL_RUN_TO_RUN, self.unseen)
        return HalfWidths(*(min(CANNOT_TELL, math.hypot(each, *others)) for each in self.steps))

    @property
    def variance(self) -> float:
        """The same as a variance; `drift` makes it one of `DRIFT_DEGREES`."""
        half_width = math.hypot(*self.steps) / math.sqrt(2)
        widest = min(CANNOT_TELL, math.hypot(half_width, self.unseen)) / NORMAL
        return widest**2 + self.drift**2 + USUAL_RUN_TO_RUN**2


def run_mean(run: StepTimes, seed: int) -> RunMean | None:
    """Nothing if the run has no measured step."""
    durations, samples = run.usable
    if not len(durations):
        return None
    relative = durations / durations.mean() - samples / samples.mean()
    length = block_length(relative, float(durations.mean()))
    return RunMean(
        log=math.log(durations.sum() / samples.sum()),
        steps=log_mean_half_widths(durations, samples, length, seed),
        drift=math.sqrt(DRIFT_GOES_ON * _between_parts(relative)),
        unseen=_unseen(len(durations)),
    )


def _between_parts(relative: Floats) -> float:
    """The variance between the parts of a run, beyond what independent steps would show."""
    length = max(1, len(relative) // _PARTS)
    means = block_means(relative, length)[:_PARTS]
    if len(means) < 2:
        return 0.0
    return max(0.0, float(means.var(ddof=1) - relative.var(ddof=1) / length))


def _unseen(steps: int) -> float:
    """The rule of three: a kind of step that none of these was is, with 95 % certainty, less often
    than 3 in as many."""
    return RARE_STEP * 3 / steps
