"""Trainings of one run: optimizers that step one after the other (folds, a search for the
learning rate first, Adam and then LBFGS) each make steps; those that step beside another do not.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import Indices
from stepscope.analyze.steps.loops import Mask

ONE_TRAINING: Final[Indices] = np.zeros(1, np.intp)  # it begins with the first step


class Trainings(NamedTuple):
    """One entry per call."""

    is_anchor: Mask  # it ends a step
    training: Indices  # from 0 on, never decreasing


def are_repeated(numbers: npt.NDArray[Any]) -> Mask:
    """Which numbers come more than once."""
    _, index, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    repeated: Mask = counts[index] > 1
    return repeated


def find_trainings(numbers: npt.NDArray[Any]) -> Trainings:
    """`numbers`: the optimizer of each call, in order; each comes at least twice.

    1. The first that is called twice makes the steps, from its first call to its last.
    2. Of those that are called for the first time after that, again the first to be called twice.
    3. The others step beside the training that is running when they are first called, and beside
       what follows it; if called before a training has begun, beside that one.
    """
    _, index, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    places = np.argsort(index, kind="stable")  # of all calls, optimizer by optimizer
    begins = np.cumsum(counts) - counts
    first, again, last = places[begins], places[begins + 1], places[begins + counts - 1]
    makers: list[int] = []
    for number in np.argsort(again).tolist():
        if not makers or first[number] > last[makers[-1]]:
            makers.append(number)
    begun = np.searchsorted(last[makers], first)
    training = np.minimum(np.maximum.accumulate(begun[index]), len(makers) - 1)
    return Trainings(np.isin(index, makers), training)
