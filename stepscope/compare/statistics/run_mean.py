"""The mean step of one run, and where the mean of another run of the same script might lie.

Equal runs differ for five reasons. Each has a half-width of its own; they add as squares.

1. Which steps the run happened to have: `blocks.py`, from the steps themselves.
2. What is slower than steps: other processes, the clock rate, the neighbours on the host. Such
   noise has no longest scale: as much as the eighths of a run differ from each other, beyond what
   independent steps would, whole runs differ too.
3. In which moments it ran: what disturbs one step also disturbs those just before and after. So a
   run has at most one independent step per `MOMENT_NS`; a run of a second has seen two or three.
4. What is settled when a process starts and is then the same in all its steps (where its memory
   lies, on which core it runs). No run shows it by itself: `USUAL_RUN_TO_RUN` is assumed.
5. Steps that are too rare for a short run to have any: see `_unseen`.

The constants were chosen on what benchmarks/same_runs.py recorded. Of 375 pairs of equal runs of
300 steps, 3.7 % are told apart; of pieces of them, down to 5 steps, never more than 5 %. The
bootstrap alone tells 72 % apart; without 2 it would be 21 %, without 3 14 % (24 % of pieces of 100
steps). Of the 111 pairs that were recorded after the constants had been chosen, it is 3.6 %.
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

# The standard deviation of the mean step between equal runs, if their steps show no other reason.
# No group of recorded equal runs differed by less than 2.7 %, but all had other reasons as well.
USUAL_RUN_TO_RUN: Final = 0.02
MOMENT_NS: Final = 400_000_000
OWN_DEGREES: Final = 4  # of freedom: neighbours among the eight parts are not independent
RARE_STEP: Final = 1.0  # what steps of a kind not seen may take, in mean steps
CANNOT_TELL: Final = math.log(1_000)  # the half-width of an interval that says nothing
_PARTS: Final = 8


@dataclasses.dataclass(frozen=True, eq=False)
class StepTimes:
    """One run: its measured steps, in order."""

    duration_ns: Ints
    samples: Ints | None = None  # per step, if runs are compared by sample
    steps: int | None = None  # how many, where each entry is of several

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
    drift: float  # the standard deviation between runs that its parts suggest
    moments: float  # the one that its usual scatter and its length suggest
    unseen: float  # a half-width

    @property
    def off(self) -> HalfWidths:
        """The 95 % interval for other runs of the same script."""
        drift = two_sided(LEVEL, OWN_DEGREES) * self.drift
        between_runs = NORMAL * math.hypot(self.moments, USUAL_RUN_TO_RUN)
        others = (drift, between_runs, self.unseen)
        return HalfWidths(*(min(CANNOT_TELL, math.hypot(each, *others)) for each in self.steps))

    @property
    def variance(self) -> float:
        """The same as a variance, with about `OWN_DEGREES` degrees of freedom."""
        half_width = math.hypot(*self.steps) / math.sqrt(2)
        widest = min(CANNOT_TELL, math.hypot(half_width, self.unseen)) / NORMAL
        return math.hypot(widest, self.drift, self.moments, USUAL_RUN_TO_RUN) ** 2


def run_mean(run: StepTimes, seed: int) -> RunMean | None:
    """Nothing if the run has no measured step."""
    durations, samples = run.usable
    if not len(durations):
        return None
    relative = durations / durations.mean() - samples / samples.mean()
    return RunMean(
        log=math.log(durations.sum() / samples.sum()),
        steps=log_mean_half_widths(durations, samples, block_length(relative), seed),
        drift=math.sqrt(_between_parts(relative)),
        moments=_usual_scatter(relative) * math.sqrt(min(1.0, MOMENT_NS / durations.sum())),
        unseen=_unseen(run.steps or len(durations)),
    )


def _between_parts(relative: Floats) -> float:
    """The variance between the parts of a run, beyond what independent steps would show."""
    length = max(1, len(relative) // _PARTS)
    means = block_means(relative, length)[:_PARTS]
    if len(means) < 2:
        return 0.0
    return max(0.0, float(means.var(ddof=1) - relative.var(ddof=1) / length))


def _usual_scatter(relative: Floats) -> float:
    """The standard deviation, were the steps that stand out (an evaluation, a checkpoint) as the
    others: they come when the script says so."""
    low, high = np.quantile(relative, [0.16, 0.84])  # one standard deviation to either side
    return float(high - low) / 2


def _unseen(steps: int) -> float:
    """The rule of three: a kind of step that none of these was is, with 95 % certainty, less often
    than 3 in as many."""
    return RARE_STEP * 3 / steps
