"""Which steps took far longer than the usual one: the same for findings, terminal and page."""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints

_LEAST_STEPS: Final = 5  # measured ones: fewer do not say what is usual
_TIMES: Final = 2.0  # the median: below that, steps vary with what they do
_SPREADS: Final = 8.0  # median absolute deviations above it: five standard deviations
_RARE: Final = 0.2  # of the steps at most: otherwise they are usual
_FAR: Final = 3.0  # times the slowest usual step


@dataclasses.dataclass(frozen=True, eq=False)
class Outliers:
    indices: np.ndarray[Any, np.dtype[np.intp]]  # among all steps
    usual_ns: float


def outliers(duration_ns: Ints, is_measured: npt.NDArray[np.bool_]) -> Outliers:
    measured = duration_ns[is_measured]
    if len(measured) < _LEAST_STEPS:
        return Outliers(np.zeros(0, np.intp), 0.0)
    usual = float(np.median(measured))
    spread = float(np.median(np.abs(measured - usual)))
    limit = max(_TIMES * usual, usual + _SPREADS * spread)
    if (measured > limit).sum() > _RARE * len(measured):  # the machine is not quiet
        limit = _FAR * float(np.percentile(measured, 100 * (1 - _RARE)))
    return Outliers(np.flatnonzero(is_measured & (duration_ns > limit)), usual)
