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

from stepscope.analyze.intervals import step_of
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
    beyond_ns: npt.NDArray[np.int64]  # steps x phases as they are: above a usual step


@functools.lru_cache(maxsize=64)
def typical_steps(process: ProcessData, steps: FoundSteps) -> Typical:
    phases = phases_by_step(process, steps)
    found = np.zeros(len(steps), np.bool_)
    found[outliers(steps.duration_ns, steps.is_measured).indices] = True
    beyond = _beyond(process, phases, steps, found)
    found &= beyond.sum(axis=1) >= _usual(phases, steps, found).sum()
    found &= ~_by_design(process, steps, phases, found, beyond)
    beyond = _beyond(process, phases, steps, found)
    usual = phases
    if found.any():
        ns = _with_outliers(phases.ns, beyond, np.flatnonzero(found))
        usual = dataclasses.replace(phases, names=(*phases.names, OUTLIERS), ns=ns)
    ns = each_with_its_part(process, steps, usual, in_place=usual is not phases)
    return Typical(dataclasses.replace(usual, ns=ns), found, beyond)


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
    mask: Mask = np.isin(np.arange(len(steps)), step)
    return mask


def _usual(phases: Phases, steps: FoundSteps, slow: Mask) -> Ints:
    """The mean of the measured steps that are not slow, by phase."""
    others = steps.is_measured & ~slow
    if not others.any():
        others = ~slow
    whole_ns = np.array([phases.ns[others, at].sum() for at in range(len(phases.names))])
    usual: Ints = np.rint(whole_ns / max(1, others.sum())).astype(np.int64)
    return usual


def _beyond(
    process: ProcessData, phases: Phases, steps: FoundSteps, slow: Mask
) -> npt.NDArray[np.int64]:
    """Zero but for the few slow steps: of millions, the rest takes no memory."""
    rows = np.flatnonzero(slow)
    slow_ones = np.maximum(0, phases.ns[rows] - _usual(phases, steps, slow))
    slow_ones[:, np.isin(phases.names, _kept(process, phases, steps))] = 0
    more = np.zeros(phases.ns.shape, np.int64)
    more[rows] = slow_ones
    return more


def _with_outliers(
    ns: npt.NDArray[np.int64], beyond: npt.NDArray[np.int64], slow: npt.NDArray[np.intp]
) -> npt.NDArray[np.int64]:
    """Steps x phases, and what slow steps take beyond a usual one as the last column."""
    found = np.empty((len(ns), ns.shape[1] + 1), np.int64)
    found[:, :-1] = ns
    found[:, -1] = 0
    found[slow, :-1] -= beyond[slow]
    found[slow, -1] = beyond[slow].sum(axis=1)
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
    slow: Mask,
    beyond: npt.NDArray[np.int64],
) -> Mask:
    largest = beyond.argmax(axis=1)
    starts = epoch_starts(process, steps)
    own = slow & ~starts & ~np.isin(phases.names, _NOT_BY_DESIGN)[largest]
    waits = slow & ~starts & (np.array(phases.names) == "input")[largest]
    usual = _collects(process, steps) & slow
    if _is_regular(np.flatnonzero(own)):
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


def _is_regular(indices: npt.NDArray[np.intp]) -> bool:
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
