"""The step played through without what a finding blames, from the steps as they were recorded.

1. What is blamed is a share of each step, of the time in which the main thread did not wait for a
   core: a busy machine makes the blamed part and the rest longer alike. What it added to single
   steps is not the script's, and counts for neither.
2. The rest is what the step then takes: no less than the error with which it is known. Recording is
   in neither, as the script has none of it on its own.
3. The range: what the fix takes off at least and at most, how much faster the rest is in quiet
   steps, and recording, whose cost may lie in either part unless it is known. Chance makes what is
   blamed longer or shorter, and the step with it, but not the rest. A gain is measured with
   another run, and equal runs differ. It is never narrower than predictions were wrong so far.
4. Where no more may be left than the error with which that is known, the range has no upper end.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.gain.saving import HALF, Saving
from stepscope.clock import Ints
from stepscope.model.findings import Speedup

Floats = npt.NDArray[np.float64]

# Of the step: gains measured twice differ by that much at least (benchmarks/zoo/results.md).
_LEAST_KNOWN: Final = 0.01
# The ratio of two equal runs, in 95 of 100 cases: a run's mean step is known to 2 % at best
# (compare/statistics/run_mean.py). 1.96 * sqrt(2) * 0.02.
_ANOTHER_RUN: Final = 1.055
# Of the logarithm of a gain: in nine of ten scripts with a known fault, the measured one was within
# that much of what was expected (`python -m benchmarks.zoo`, "off by"). A step without what it can
# leave out is all in the run: its rest gets faster or slower by a little.
_OFF_BY: Final = 0.29
# The run does not show how fast other code is that does the same, or how good it is.
_OFF_BY_REPLACED: Final = 0.58
# The rules were made with those scripts at hand. In scripts that were not, a range of 0.45 for all
# held four of five measured gains. If errors are Laplace's, as their long tail suggests, nine of
# ten are within log(10) / log(5) times as much as four of five are.
_UNSEEN: Final = 1.43
# From here on errors do not grow with the gain: of the six gains over 5 where other code does the
# work, from 7 to 100, none was off by more than 2.6 times.
_LARGE: Final = 5.0
_QUIET: Final = 10  # percentile: the range is to hold in nine of ten cases


@dataclasses.dataclass(frozen=True, eq=False)
class Steps:
    """The measured steps."""

    duration_ns: Ints
    lost_ns: Floats | None = None  # ready but without a core
    recording: float = 0.0  # the share that recording itself takes
    added_ns: Ints | None = None  # what the machine added to steps that are slow because of it

    @functools.cached_property
    def mean_ns(self) -> float:
        return float(self.duration_ns.mean())

    @functools.cached_property
    def script_ns(self) -> Ints:
        """Without what the machine added."""
        return self.duration_ns if self.added_ns is None else self.duration_ns - self.added_ns

    @functools.cached_property
    def own_ns(self) -> Floats:
        added = self.duration_ns - self.script_ns
        lost = np.zeros(len(added)) if self.lost_ns is None else self.lost_ns - added
        own: Floats = np.asarray(self.script_ns - np.clip(lost, 0.0, self.script_ns), np.float64)
        return own if own.sum() > 0 else np.asarray(self.script_ns, np.float64)

    def blamed(self, saving: Saving) -> Floats:
        """The share of each step."""
        if saving.by_step_ns is None:
            share = min(1.0, saving.expected / float(self.script_ns.mean()))
            return np.full(len(self.duration_ns), share)
        shares: Floats = np.clip(saving.by_step_ns / np.maximum(1, self.script_ns), 0.0, 1.0)
        return shares


def speedup(steps: Steps, saving: Saving) -> Speedup:
    """Of the mean step, in a range that is no narrower than predictions were wrong so far."""
    found = simulated(steps, saving)
    off_by = _UNSEEN * (_OFF_BY_REPLACED if saving.is_replaced else _OFF_BY)
    times = min(found.expected, _LARGE) ** off_by
    high = None if found.high is None else max(found.high, found.expected * times)
    low = min(found.low, found.expected / times)
    return Speedup(expected=found.expected, low=low, high=high)


def simulated(steps: Steps, saving: Saving) -> Speedup:
    """What the recorded steps say."""
    blamed, scale = _blamed_share(steps, saving)
    faster = _faster_in_quiet_steps(steps, saving)
    recorded = min(saving.recorded_ns / steps.mean_ns, steps.recording, blamed)
    beside = steps.recording - recorded  # not in what is blamed, as far as is known
    unknown = max(_LEAST_KNOWN, beside) * blamed
    chance = _chance(steps, saving)
    noise = _ANOTHER_RUN if blamed else 1.0  # what is not about time promises nothing
    whole = 1 - steps.recording
    most_left = min(1.0, max(1 - min(blamed, saving.least * scale) - beside, 0.0) + unknown)
    least_left = (_least_left(saving, scale) - beside) * (1 - faster * blamed) - unknown
    # If more may go away than there is, the middle of what may be left.
    slack = 0.0 if saving.most is None else scale * (saving.most - saving.expected)
    left = max(1 - blamed - beside, unknown, HALF * slack, 1e-9)
    expected = max(1.0, whole / left)
    is_open = saving.most is None or least_left <= unknown
    return Speedup(
        expected=expected,
        low=min(max(1.0, (whole - chance) / max(most_left, 1e-9) / noise), expected),
        high=None if is_open else max(noise * (whole + chance) / least_left, expected),
    )


def one_after_another(steps: Steps, savings: Sequence[Saving]) -> list[float | None]:
    """What each fix still gains when those before it are made: they share the same step. None: it
    would take away all that is left, so there the errors of the others decide."""
    left, gains = steps.mean_ns, list[float | None]()
    for saving in savings:
        after = left - saving.expected
        is_known = after > saving.expected * max(_LEAST_KNOWN, steps.recording)
        gains.append(left / after if is_known else None)
        left = after if is_known else left
    return gains


def _blamed_share(steps: Steps, saving: Saving) -> tuple[float, float]:
    """(the share of what is expected to go away, the share of each ns of it)"""
    own = np.average(steps.blamed(saving), weights=steps.own_ns)
    clock = np.average(steps.blamed(saving), weights=steps.script_ns)
    scale = (float(own / clock) if clock else 1.0) / float(steps.script_ns.mean())
    return min(1.0, saving.expected * scale), scale


def _chance(steps: Steps, saving: Saving) -> float:
    """Two standard errors of the share, where it differs from step to step: other steps have more
    of it or less."""
    shares = steps.blamed(saving)
    beyond = steps.own_ns * (shares - np.average(shares, weights=steps.own_ns))
    return 2 * float(beyond.std() / steps.own_ns.mean()) / math.sqrt(len(shares))


def _least_left(saving: Saving, scale: float) -> float:
    return 1 - scale * (saving.expected if saving.most is None else saving.most)


def _faster_in_quiet_steps(steps: Steps, saving: Saving) -> float:
    """How much shorter the rest is in the quietest tenth of the steps, as a part of its mean. With
    less done beside it, it gets faster, as caches stay warm and less is freed, and not slower. The
    quiet ones lose next to nothing: by the clock, as a delay is known for some ms, not for each."""
    others = 1 - steps.blamed(saving)
    mean = max(1.0, float((steps.own_ns * others).mean()))
    return max(0.0, 1 - float(np.percentile(steps.script_ns * others, _QUIET)) / mean)
