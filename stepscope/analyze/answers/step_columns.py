"""The steps as columns, few enough to draw, with those that took far longer than usual."""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.steps.outliers import outliers
from stepscope.clock import Ints
from stepscope.model import Step
from stepscope.model.page import StepColumns
from stepscope.store.reader import Run

MOST_STEPS: Final = 4_000
_MOST_OUTLIERS: Final = 50


def step_columns(run: Run) -> StepColumns | None:
    """Of the main process; None if no steps were found."""
    each = steps(run, each=True).each
    if not isinstance(each, list) or not each:
        return None
    names = list(dict.fromkeys(name for step in each for name in step.phases))
    group = -(-len(each) // MOST_STEPS)
    duration = _means(np.array([step.duration_ns for step in each], np.int64), group)
    table = _means(_table(each, names), group)
    measured = np.array([step.measured for step in each], np.bool_)[::group]
    slow = _slowest_entries(each, group)
    usual = np.median(table[measured], axis=0) if measured.any() else np.zeros(len(names))
    return StepColumns(
        number=list(range(1, len(each) + 1, group)),
        start_ns=[step.start_ns for step in each[::group]],
        duration_ns=duration.tolist(),
        measured=measured.tolist(),
        estimated=[step.estimated for step in each[::group]],
        phases={name: table[:, index].tolist() for index, name in enumerate(names)},
        group=group,
        outliers=slow.tolist(),
        slow_phase=[names[int(np.argmax(table[index] - usual))] for index in slow],
    )


def _table(each: list[Step], names: list[str]) -> Ints:
    """steps x phases."""
    return np.array([[step.phases.get(name, 0) for name in names] for step in each], np.int64)


def _means(values: Ints, group: int) -> Ints:
    """Of each group of rows; the last may be shorter."""
    if group == 1:
        return values
    starts = np.arange(0, len(values), group)
    sizes = np.diff(np.append(starts, len(values)))
    sums = np.add.reduceat(values, starts, axis=0)
    means: Ints = sums // (sizes if values.ndim == 1 else sizes[:, None])
    return means


def _slowest_entries(each: list[Step], group: int) -> npt.NDArray[np.intp]:
    """Those with a step far slower than usual in them, the slowest of many, in order of time."""
    duration_ns = np.array([step.duration_ns for step in each], np.int64)
    found = outliers(duration_ns, np.array([step.measured for step in each], np.bool_)).indices
    slowest = found[np.argsort(-duration_ns[found], kind="stable")][:_MOST_OUTLIERS]
    return np.unique(slowest // group)
