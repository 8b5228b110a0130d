"""The steps as columns, few enough to draw, with those that took far longer than usual."""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.steps.outliers import outliers
from stepscope.clock import Ints
from stepscope.model.page import StepColumns
from stepscope.store.reader import Run

Mask = npt.NDArray[np.bool_]

MOST_STEPS: Final = 4_000  # more than a screen has columns
_MOST_OUTLIERS: Final = 50  # marks that one can still tell apart


class _Steps(NamedTuple):
    """All of them, a value each."""

    number: Ints
    start_ns: Ints
    duration_ns: Ints
    names: list[str]
    phases_ns: Ints  # steps x phases
    is_measured: Mask
    is_estimated: Mask


def step_columns(run: Run) -> StepColumns | None:
    """Of the main process; None if no steps were found."""
    is_trace = run.main is not None and run.main.trace is not None
    found = _of_trace(run) if is_trace else _recorded(run)
    if found is None:
        return None
    group = -(-len(found.start_ns) // MOST_STEPS)
    table, measured = _means(found.phases_ns, group), found.is_measured[::group]
    slow = _slowest_entries(found, group)
    usual = np.median(table[measured], axis=0) if measured.any() else np.zeros(len(found.names))
    return StepColumns(
        number=found.number[::group].tolist(),
        start_ns=found.start_ns[::group].tolist(),
        duration_ns=_means(found.duration_ns, group).tolist(),
        measured=measured.tolist(),
        estimated=found.is_estimated[::group].tolist(),
        phases={name: table[:, index].tolist() for index, name in enumerate(found.names)},
        group=group,
        outliers=slow.tolist(),
        slow_phase=[found.names[int(np.argmax(table[index] - usual))] for index in slow],
    )


def _recorded(run: Run) -> _Steps | None:
    """As columns from the start: an object for each of two million steps takes gigabytes."""
    found = find_steps(run, run.main)
    if run.main is None or not len(found):
        return None
    phases = phases_by_step(run.main, found)
    return _Steps(
        np.arange(1, len(found) + 1), found.start_ns - run.main.start_ns, found.duration_ns,
        [*phases.names], phases.ns, found.is_measured, phases.is_estimated,
    )  # fmt: skip


def _of_trace(run: Run) -> _Steps | None:
    each = steps(run, each=True).each
    if not isinstance(each, list) or not each:
        return None
    names = list(dict.fromkeys(name for step in each for name in step.phases))
    return _Steps(
        np.array([step.number for step in each], np.int64),
        np.array([step.start_ns for step in each], np.int64),
        np.array([step.duration_ns for step in each], np.int64),
        names,
        np.array([[step.phases.get(name, 0) for name in names] for step in each], np.int64),
        np.array([step.measured for step in each], np.bool_),
        np.array([step.estimated for step in each], np.bool_),
    )


def _means(values: Ints, group: int) -> Ints:
    """Of each group of rows; the last may be shorter."""
    if group == 1:
        return values
    starts = np.arange(0, len(values), group)
    sizes = np.diff(np.append(starts, len(values)))
    sums = np.add.reduceat(values, starts, axis=0)
    means: Ints = sums // (sizes if values.ndim == 1 else sizes[:, None])
    return means


def _slowest_entries(found: _Steps, group: int) -> npt.NDArray[np.intp]:
    """Those with a step far slower than usual in them, the slowest of many, in order of time."""
    slow = outliers(found.duration_ns, found.is_measured).indices
    slowest = slow[np.argsort(-found.duration_ns[slow], kind="stable")][:_MOST_OUTLIERS]
    return np.unique(slowest // group)
