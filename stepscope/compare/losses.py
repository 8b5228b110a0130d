"""Whether two runs train the same: their losses compared, in the order they were computed in.

1. Losses that are equal bit by bit are the same.
2. Otherwise the first steps must agree within a tolerance. The weights are still the same there, so
   only rounding may differ: sums in another order change the loss by 1e-7 of its size.
3. Every update makes a difference in rounding larger, so later steps may differ by more: by what
   the loss moves by itself from one step to the next. Other batches differ by more than that.
4. If the unchanged script's own runs differ as much from each other, nothing can be said.

A GAN's losses, and those of accumulated batches, are separate curves.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from stepscope.analyze.steps.losses import Losses
from stepscope.model import Record

Floats = npt.NDArray[np.float64]
Same = Literal["bitwise", "within tolerance", "different", "unknown"]

# Relative, of the first steps. Measured on small networks: another order of sums changes them by
# 1e-7, bfloat16 by up to 5e-3, other batches by 3e-2 and more within five steps.
REORDERED: Final = 1e-4
LOWER_PRECISION: Final = 2e-2
_EARLY: Final = 5  # steps
_WINDOW: Final = 5  # steps: one that differs may be chance, the median of several is not
_AS_MUCH: Final = 2.0  # times what the script's own runs differ by
_MOST_DIGITS: Final = 17  # any two doubles differ in them
_NONE: Final = "no loss was found"
_LEAST_PERCENT: Final = 0.001  # that is shown


class LossCheck(Record, frozen=True):
    """How the losses of two runs compare."""

    same: Same
    max_difference: float | None  # the largest, relative; null: nothing was compared
    first_step_apart: int | None  # counted from 1
    steps: int  # that were compared
    words: str


def compare_losses(
    before: Losses,
    after: Losses,
    *,
    tolerance: float = REORDERED,
    controls: Sequence[Losses] = (),
) -> LossCheck:
    """`tolerance`: LOWER_PRECISION for a change that computes with fewer bits. `controls`: of other
    runs of the script that `before` is a run of."""
    if not len(before) or not len(after):
        return LossCheck(
            same="unknown", max_difference=None, first_step_apart=None, steps=0, words=_NONE
        )
    pair = _Pair(before, after)
    if pair.are_equal.all():
        return pair.check("bitwise", f"identical in {pair.extent}")
    apart = pair.first_apart(tolerance)
    if apart is None:
        return pair.check("within tolerance", _within(pair, tolerance))
    if any(_differs_as_much(_Pair(before, other), pair, tolerance) for other in controls):
        return pair.check("unknown", "the script's own runs differ as much: unknown")
    values = _with_enough_digits(pair.before[apart], pair.after[apart])
    step = int(pair.step[apart]) + 1
    return pair.check("different", f"different from step {step} on: {values}", step)


def _differs_as_much(control: "_Pair", pair: "_Pair", tolerance: float) -> bool:
    if control.first_apart(tolerance) is None:
        return False
    return pair.typical_difference <= _AS_MUCH * control.typical_difference


class _Pair:
    """The losses that both runs have."""

    def __init__(self, before: Losses, after: Losses) -> None:
        count = min(len(before), len(after))
        self.before, self.after = before.value[:count], after.value[:count]
        self.step = before.step[:count]
        self._is_all = len(before) == len(after)
        is_nan = np.isnan(self.before) & np.isnan(self.after)
        self.are_equal = (self.before == self.after) | is_nan
        self._movement = np.zeros(count)
        for curve in self._curves():
            self._movement[curve] = _movement(self.before[curve])
        with np.errstate(invalid="ignore"):
            difference = np.abs(self.before - self.after)
        # A loss that is not a number in one run only is as different as can be.
        difference[~np.isfinite(difference)] = np.inf
        self._difference = np.where(self.are_equal, 0.0, difference)

    def _curves(self) -> Iterator[slice]:
        """As many as a step usually has losses."""
        in_step = np.unique(self.step, return_counts=True)[1]
        usual = int(np.bincount(in_step).argmax())
        for number in range(usual):
            yield slice(number, None, usual)

    @property
    def steps(self) -> int:
        return len(np.unique(self.step))

    @property
    def extent(self) -> str:
        steps = f"{self.steps} step{'s' if self.steps > 1 else ''}"
        return f"all {steps}" if self._is_all else f"the {steps} that both have"

    @property
    def relative(self) -> Floats:
        """A loss may be close to 0: then it is compared with how much it moves."""
        size = np.maximum(np.maximum(np.abs(self.before), np.abs(self.after)), self._movement)
        is_measurable = np.isfinite(size) & (size > 0)
        safe = np.where(is_measurable, size, 1.0)
        return np.where(is_measurable, self._difference / safe, np.sign(self._difference))

    @property
    def typical_difference(self) -> float:
        return float(np.median(self.relative))

    def first_apart(self, tolerance: float) -> int | None:
        """The first loss beyond the tolerance, in a curve that is another one."""
        found = []
        for curve in self._curves():
            is_beyond = self.relative[curve] > tolerance
            is_far = is_beyond & (self._difference[curve] > self._movement[curve])
            if is_beyond[:_EARLY].any() or _are_many(is_far[_EARLY:]):
                found.append(curve.start + curve.step * int(np.argmax(is_beyond)))
        return min(found, default=None)

    def check(self, same: Same, words: str, step: int | None = None) -> LossCheck:
        return LossCheck(
            same=same, max_difference=float(self.relative.max()), first_step_apart=step,
            steps=self.steps, words=words,
        )  # fmt: skip


def _movement(curve: Floats) -> float:
    """What it usually changes by from one step to the next."""
    with np.errstate(invalid="ignore"):
        changes = np.abs(np.diff(curve))
    changes = changes[np.isfinite(changes)]
    return float(np.median(changes)) if len(changes) else 0.0


def _are_many(is_far: npt.NDArray[np.bool_]) -> bool:
    """Most of some window."""
    size = min(_WINDOW, len(is_far))
    return size > 0 and bool((np.convolve(is_far, np.ones(size), "valid") > size / 2).any())


def _within(pair: _Pair, tolerance: float) -> str:
    largest = float(pair.relative.max())
    words = f"within {_percent(largest)} over {pair.extent.removeprefix('all ')}"
    return f"{words}, less than it moves from step to step" if largest > tolerance else words


def _percent(share: float) -> str:
    percent = max(100 * share, _LEAST_PERCENT)
    return f"{percent:.0f} %" if percent >= 9.5 else f"{percent:.1g} %"


def _with_enough_digits(first: float, second: float) -> str:
    """With as many digits as it takes to see that they differ."""
    for digits in range(3, _MOST_DIGITS + 1):
        texts = f"{first:.{digits}g}", f"{second:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return f"{texts[0]} and {texts[1]}"
