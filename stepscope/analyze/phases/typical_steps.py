"""The steps as they usually are: what slow ones cost above that is a category of its own.

A mean is not made by a few steps. In a slow step each phase counts as much as in the other steps,
and the rest is `outliers`, so the phases still sum to the step. What is done now and then by design
is not an outlier:

1. Phases that have findings of their own (evaluation, saving, logging, compiling), and time that is
   not lost, keep their names.
2. A step in which a training makes its own data is a usual one, however long it takes.
3. So is one of those that come every N steps and are longer because more is done in them. The
   beginning of an epoch is not: only in a short run does it come so often.
4. A loader with N workers hands out batches N at a time: waiting at every Nth step is usual.

On a machine that others use as well, the time without a core is in all phases alike
(without_core.py).
"""

import dataclasses
import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import Indices, step_of
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.garbage import collects_throughout
from stepscope.analyze.phases.span_table import NO_BATCH_YET, Mask, without_gradients
from stepscope.analyze.phases.step_phases import Phases, phases_by_step
from stepscope.analyze.phases.without_core import each_with_its_part
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.outliers import outliers
from stepscope.clock import Ints
from stepscope.model.categories import OUTLIERS
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

# In slow steps as well: they have findings of their own. Waiting for the device is waiting for what
# the steps before have asked it to compute.
KEEP_THEIR_NAMES: Final = ("evaluation", "checkpoint", "compile", "logging", "profiler", "sync")
# Of what is not the script's own doing, no rhythm makes a habit.
_NOT_BY_DESIGN: Final = ("gc", "input", "communication", "transfer")
_LEAST_REGULAR: Final = 3  # slow steps: two are always evenly apart
_REGULAR: Final = 0.8  # of the distances are alike: now and then a step is slow for another reason
_HALF: Final = 0.5  # of the steps; of one in N


@dataclasses.dataclass(frozen=True, eq=False)
class Typical:
    phases: Phases  # as they usually are; if any step is slow, `outliers` is one of them
    is_slow: Mask  # by step
    slow: Indices
    beyond_ns: npt.NDArray[np.int64]  # slow steps x phases as they are: above a usual step

    def beyond(self, step: int) -> int:
        """What a slow step takes above a usual one."""
        return int(self.beyond_ns[np.searchsorted(self.slow, step)].sum())


@functools.lru_cache(maxsize=64)
def typical_steps(process: ProcessData, steps: FoundSteps) -> Typical:
    phases = phases_by_step(process, steps)
    slow = outliers(steps.duration_ns, steps.is_measured).indices
    beyond = _beyond(process, phases, steps, slow)
    is_far = beyond.sum(axis=1) >= _usual(phases, steps, slow).sum()
    slow, beyond = slow[is_far], beyond[is_far]
    slow = slow[~_by_design(process, steps, phases, slow, beyond)]
    beyond = _beyond(process, phases, steps, slow)
    usual = phases
    if len(slow):
        ns = _with_outliers(phases.ns, beyond, slow)
        usual = dataclasses.replace(phases, names=(*phases.names, OUTLIERS), ns=ns)
    ns = each_with_its_part(process, steps, usual, in_place=usual is not phases)
    is_slow = _mask(slow, len(steps))
    return Typical(dataclasses.replace(usual, ns=ns), is_slow, slow, beyond)


def _mask(indices: Indices, count: int) -> Mask:
    mask = np.zeros(count, np.bool_)
    mask[indices] = True
    return mask


def typical_ns(process: ProcessData, steps: FoundSteps, name: str) -> Ints:
    """One phase by measured step, as the breakdown has it."""
    phases = typical_steps(process, steps).phases
    if name not in phases.names:
        return np.zeros(int(steps.is_measured.sum()), np.int64)
    column: Ints = phases.ns[steps.is_measured, phases.names.index(name)]
    return column


@functools.lru_cache(maxsize=64)
def epoch_starts(process: ProcessData, steps: FoundSteps) -> Mask:
    """The steps in which a loader or a pipeline starts over."""
    spans = phase_spans(process, steps)
    starts = spans.of(SpanCategory.INPUT) & (spans.samples == NO_BATCH_YET)
    return _with_any(spans.start_ns[starts], steps)


def _with_any(at_ns: Ints, steps: FoundSteps) -> Mask:
    """The steps that one of these moments lies in."""
    step = step_of(at_ns, steps.start_ns, steps.end_ns)
    return _mask(step[step >= 0], len(steps))


def _usual(phases: Phases, steps: FoundSteps, slow: Indices) -> Ints:
    """The mean of the measured steps that are not slow, by phase."""
    is_usual = ~_mask(slow, len(steps))
    others = steps.is_measured & is_usual
    if not others.any():
        others = is_usual
    whole_ns = phases.ns.sum(axis=0, where=others[:, None])
    usual: Ints = np.rint(whole_ns / max(1, others.sum())).astype(np.int64)
    return usual


def _beyond(
    process: ProcessData, phases: Phases, steps: FoundSteps, slow: Indices
) -> npt.NDArray[np.int64]:
    """Slow steps x phases."""
    if not len(slow):
        return np.zeros((0, len(phases.names)), np.int64)
    more: npt.NDArray[np.int64] = np.maximum(0, phases.ns[slow] - _usual(phases, steps, slow))
    more[:, np.isin(phases.names, _kept(process, phases, steps))] = 0
    return more


def _with_outliers(
    ns: npt.NDArray[np.int64], beyond: npt.NDArray[np.int64], slow: Indices
) -> npt.NDArray[np.int64]:
    """Steps x phases, and what slow steps take beyond a usual one as the last column."""
    found = np.zeros((len(ns), ns.shape[1] + 1), np.int64, order="F")
    for phase in np.flatnonzero(ns.any(axis=0)).tolist():  # the others take no memory
        found[:, phase] = ns[:, phase]
    for phase in np.flatnonzero(beyond.any(axis=0)).tolist():
        found[slow, phase] -= beyond[:, phase]
    found[slow, -1] = beyond.sum(axis=1)
    return found


def _kept(process: ProcessData, phases: Phases, steps: FoundSteps) -> tuple[str, ...]:
    """Garbage collections too, if they are a matter of all steps: a finding of their own."""
    measured = steps.is_measured
    spent_ns = phases.ns[measured, phases.names.index("gc")]
    if measured.any() and collects_throughout(process, spent_ns, steps.duration_ns[measured]):
        return (*KEEP_THEIR_NAMES, "gc")
    return KEEP_THEIR_NAMES


def _by_design(
    process: ProcessData,
    steps: FoundSteps,
    phases: Phases,
    slow: Indices,
    beyond: npt.NDArray[np.int64],
) -> Mask:
    """One entry for each slow step."""
    largest = beyond.argmax(axis=1)
    starts = epoch_starts(process, steps)[slow]
    own = ~starts & ~np.isin(phases.names, _NOT_BY_DESIGN)[largest]
    waits = ~starts & (np.array(phases.names) == "input")[largest]
    usual = _collects(process, steps)[slow]
    if _is_regular(slow[own]):
        usual |= own
    workers = _workers(process, steps)
    if workers > 1 and waits.sum() >= _HALF * steps.is_measured.sum() / workers:
        usual |= waits
    return usual


def _collects(process: ProcessData, steps: FoundSteps) -> Mask:
    """The steps with passes that make data, if most have none."""
    spans = phase_spans(process, steps)
    found = _with_any(spans.start_ns[without_gradients(spans)], steps)
    return found if found.sum() < _HALF * len(steps) else np.zeros(len(steps), np.bool_)


def _is_regular(indices: Indices) -> bool:
    """Whether they come every N steps, some of which may have been left out."""
    if len(indices) < _LEAST_REGULAR:
        return False
    distances = np.diff(indices)
    every = max(1, int(np.median(distances)))
    off = distances % every
    alike = (np.minimum(off, every - off) <= 1) & (every > 1)
    return bool(alike.mean() >= _REGULAR)


def _workers(process: ProcessData, steps: FoundSteps) -> int:
    """Of the loaders that the steps wait for."""
    waits = process.spans.of(SpanCategory.INPUT).on(steps.thread)
    return int(waits.loader_workers.max(initial=0))
