"""Time in which the steps' thread was ready but had no core, and the phases without it.

A thread that shares its core stands still wherever it happens to be, through no fault of the phase
it is in. Where others had the core for a real share of the measured steps, each phase is what it
takes with a core and its part of the time without one, so its share does not depend on what else
the machine did. The phases still sum to the step.
"""

import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.counters import grown
from stepscope.analyze.phases.step_phases import Phases
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData

Floats = npt.NDArray[np.float64]

LEAST_SHARED: Final = 0.05  # of the time: a machine's own chores take less
_RECORDING: Final = "profiler"  # counted, not timed: it is the same on a busy machine
_PERCENTILES: Final = range(50, 0, -1)  # of the steps: from the median down to the very luckiest


@functools.lru_cache(maxsize=64)
def delay_by_step_ns(process: ProcessData, steps: FoundSteps) -> Floats:
    """How long the thread was ready in each measured step but had no core."""
    measured = steps.is_measured
    memory = process.memory
    window = steps.start_ns[measured], steps.end_ns[measured]
    return grown(memory.at_ns, memory.run_delay_ns, window)


def without_core(process: ProcessData, steps: FoundSteps) -> float:
    """The share of the measured time in which the thread was ready but had no core."""
    measured_ns = float(steps.duration_ns[steps.is_measured].sum())
    return min(1.0, float(delay_by_step_ns(process, steps).sum()) / max(1.0, measured_ns))


def is_shared(process: ProcessData, steps: FoundSteps) -> bool:
    """Whether others had the core for more than a machine's own chores take."""
    return without_core(process, steps) >= LEAST_SHARED


def note_without_core(process: ProcessData, steps: FoundSteps) -> str | None:
    """What to say beside the phases of such a run."""
    if not is_shared(process, steps):
        return None
    share = f"{100 * without_core(process, steps):.0f} %"
    return (
        f"The training thread was ready but had no core for {share} of the time: that time is "
        "spread over all phases."
    )


def each_with_its_part(
    process: ProcessData, steps: FoundSteps, phases: Phases
) -> npt.NDArray[np.int64]:
    """Steps x phases: of measured steps on a shared machine, each phase with its part of the time
    without a core."""
    if not is_shared(process, steps):
        return phases.ns
    others = np.array([name != _RECORDING for name in phases.names])
    rows = np.ix_(steps.is_measured, others)
    clock = phases.ns[rows].astype(np.float64)
    own = without_delay(clock, delay_by_step_ns(process, steps))
    own = np.where(own.sum(axis=1, keepdims=True) > 0, own, clock)  # a step without any core
    parts = own / np.maximum(1.0, own.sum(axis=1, keepdims=True))
    whole = phases.ns[rows].sum(axis=1)
    told: npt.NDArray[np.int64] = phases.ns.copy()
    told[rows] = _summing_to(whole, parts)
    return told


def _summing_to(whole_ns: Ints, parts: Floats) -> npt.NDArray[np.int64]:
    """Rows of whole ns; what rounding leaves goes to the largest part."""
    rows: npt.NDArray[np.int64] = np.floor(parts * whole_ns[:, None]).astype(np.int64)
    rows[np.arange(len(rows)), parts.argmax(axis=1)] += whole_ns - rows.sum(axis=1)
    return rows


def without_delay(phases_ns: Floats, lost_ns: Floats) -> Floats:
    """Each phase (column) of each step (row) without the time in which the thread had no core. When
    that was is not recorded: it is in what a phase took beyond the usual, and the rest of it in all
    of them alike."""
    beyond = np.maximum(0.0, phases_ns - _usual_ns(phases_ns, lost_ns))
    whole = np.maximum(1.0, beyond.sum(axis=1))
    taken = np.minimum(lost_ns, beyond.sum(axis=1))
    own = phases_ns - beyond * (taken / whole)[:, None]
    left = 1 - (lost_ns - taken) / np.maximum(1.0, own.sum(axis=1))
    found: Floats = own * np.clip(left, 0.0, 1.0)[:, None]
    return found


def _usual_ns(phases_ns: Floats, lost_ns: Floats) -> Floats:
    """Of each phase in the steps that have it: the same percentile of all, so that together they
    take what the usual step has its core for. Where hardly a step kept its core in a phase there is
    none: all lost alike."""
    own = phases_ns.sum(axis=1) - lost_ns
    there = np.where(phases_ns > 0, phases_ns, np.nan)
    there[:, ~(phases_ns > 0).any(axis=0)] = 0.0
    for phases in np.nanpercentile(there, [*_PERCENTILES], axis=0):  # sorts once
        usual: Floats = (phases_ns > 0) * phases
        if np.median(own - usual.sum(axis=1)) >= 0:
            return usual
    return np.zeros_like(phases_ns)
