"""Time in which the steps' thread was ready but had no core, and the phases without it.

A thread that shares its core stands still wherever it happens to be, through no fault of the phase
it is in. Where others had the core for a real share of the measured steps, each phase is what it
takes with a core and its part of the time without one, so its share does not depend on what else
the machine did. The phases still sum to the step.

Of lines of log and checkpoints, it is recorded how long each was without a core. Of the rest only
how long the thread was in all, read every ten milliseconds: that is in what a phase took beyond the
usual.
"""

import bisect
import functools
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepscope.analyze.counters import grown
from stepscope.analyze.intervals import step_of
from stepscope.analyze.phases.step_phases import Phases
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

Floats = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]

LEAST_SHARED: Final = 0.05  # of the time: a machine's own chores take less
_RECORDING: Final = "profiler"  # counted, not timed: it is the same on a busy machine
_FEW: Final = 0.5  # of the steps
_AT_ONCE: Final = 2**16  # steps: of millions, each table on the way takes a hundred megabytes
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
    process: ProcessData, steps: FoundSteps, phases: Phases, *, in_place: bool = False
) -> npt.NDArray[np.int64]:
    """Steps x phases: of measured steps on a shared machine, each phase with its part of the time
    without a core. `in_place`: nobody else has this table."""
    if not is_shared(process, steps):
        return phases.ns
    columns = np.flatnonzero([name != _RECORDING for name in phases.names])
    measured, lost_ns = np.flatnonzero(steps.is_measured), delay_by_step_ns(process, steps)
    shares_ns: npt.NDArray[np.int64] = phases.ns if in_place else phases.ns.copy("F")
    known_ns = _take_off_known(process, steps, phases.names, shares_ns)[measured]
    lost_ns = np.maximum(0.0, lost_ns - known_ns)
    usual = _usual_ns(_Measured(shares_ns, measured, columns), lost_ns)
    for first in range(0, len(measured), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        rows = np.ix_(measured[part], columns)
        shares_ns[rows] = _with_part(shares_ns[rows], known_ns[part], lost_ns[part], usual)
    return shares_ns


def _take_off_known(
    process: ProcessData, steps: FoundSteps, names: tuple[str, ...], phases_ns: Ints
) -> Ints:
    """From these phases, by step, what is known to have been without a core in them; its sum."""
    known_ns = np.zeros(len(phases_ns), np.int64)
    spans = process.spans.on(steps.thread)
    spans = spans[spans.without_core_ns > 0]
    step = step_of(spans.start_ns, steps.start_ns, steps.end_ns)
    for category in (SpanCategory.LOGGING, SpanCategory.CHECKPOINT):
        name, is_there = category.name.lower(), (step >= 0) & spans.are(category)
        if name in names and is_there.any():
            phase_ns = phases_ns[:, names.index(name)]
            each_ns = np.zeros_like(known_ns)
            np.add.at(each_ns, step[is_there], spans.without_core_ns[is_there])
            each_ns = np.minimum(each_ns, phase_ns)
            phase_ns -= each_ns
            known_ns += each_ns
    return known_ns


def _with_part(
    phases_ns: npt.NDArray[np.int64], known_ns: Ints, lost_ns: Floats, usual_ns: Floats
) -> npt.NDArray[np.int64]:
    clock = phases_ns.astype(np.float64)
    own = _without_delay(clock, lost_ns, usual_ns)
    own = np.where(own.sum(axis=1, keepdims=True) > 0, own, clock)  # a step without any core
    parts = own / np.maximum(1.0, own.sum(axis=1, keepdims=True))
    return _summing_to(phases_ns.sum(axis=1) + known_ns, parts)


def _summing_to(whole_ns: Ints, parts: Floats) -> npt.NDArray[np.int64]:
    """Rows of whole ns; what rounding leaves goes to the largest part."""
    rows: npt.NDArray[np.int64] = np.floor(parts * whole_ns[:, None]).astype(np.int64)
    rows[np.arange(len(rows)), parts.argmax(axis=1)] += whole_ns - rows.sum(axis=1)
    return rows


def without_delay(phases_ns: Floats, lost_ns: Floats) -> Floats:
    """Each phase (column) of each step (row) without the time in which the thread had no core. When
    that was is not recorded: it is in what a phase took beyond the usual, and the rest of it in all
    of them alike."""
    rows, columns = (np.arange(length) for length in phases_ns.shape)
    usual = _usual_ns(_Measured(phases_ns, rows, columns), lost_ns)
    return _without_delay(phases_ns, lost_ns, usual)


def _without_delay(phases_ns: Floats, lost_ns: Floats, usual_ns: Floats) -> Floats:
    beyond = np.maximum(0.0, phases_ns - (phases_ns > 0) * usual_ns)
    whole = np.maximum(1.0, beyond.sum(axis=1))
    taken = np.minimum(lost_ns, beyond.sum(axis=1))
    own = phases_ns - beyond * (taken / whole)[:, None]
    left = 1 - (lost_ns - taken) / np.maximum(1.0, own.sum(axis=1))
    found: Floats = own * np.clip(left, 0.0, 1.0)[:, None]
    return found


class _Measured(NamedTuple):
    """Some steps and phases of a table; one column at a time takes little memory."""

    ns: npt.NDArray[Any]
    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]

    def each_phase(self) -> Iterator[npt.NDArray[Any]]:
        for column in self.columns.tolist():
            yield self.ns[self.rows, column]


def _usual_ns(phases: _Measured, lost_ns: Floats) -> Floats:
    """Of each phase in the steps that have it: the same percentile of all, so that together they
    take what the usual step has its core for. Where hardly a step kept its core in a phase there is
    none: all lost alike."""
    percentiles = np.array([_percentiles(ns) for ns in phases.each_phase()])
    has = [ns > 0 for ns in phases.each_phase()]
    own = -lost_ns
    for ns in phases.each_phase():
        own += ns

    def fits(rank: int) -> bool:
        return bool(np.median(_left(own, has, percentiles[:, rank])) >= 0)

    # From the median down to the luckiest, phases take less and less: half of those left each time.
    ranks = range(percentiles.shape[1])
    rank = bisect.bisect_left(ranks, True, key=fits)
    if rank == len(ranks):
        return np.zeros(len(percentiles))
    usual = percentiles[:, rank]
    return _with_what_the_others_leave(usual, has, _left(own, has, usual))


def _left(own: Floats, has: list[_Mask], usual: Floats) -> Floats:
    """Of the time with a core, by step."""
    left = own.copy()
    for there, each in zip(has, usual.tolist(), strict=True):
        np.subtract(left, each, out=left, where=there)
    return left


def _with_what_the_others_leave(usual: Floats, has: list[_Mask], left: Floats) -> Floats:
    """A phase that few steps have takes no longer than the core that the others leave it there: one
    that writes wakes its reader, and may well lose the core each time. `left`: by step, of the time
    with a core."""
    capped = np.asarray(usual, np.float64).copy()
    for phase, there in enumerate(has):
        if 0 < there.sum() < _FEW * len(there):
            most = max(0.0, float(np.median(left[there])) + float(usual[phase]))
            capped[phase] = min(capped[phase], most)
    return capped


def _percentiles(ns: npt.NDArray[Any]) -> Floats:
    there = ns[ns > 0]
    if not len(there):
        return np.zeros(len(_PERCENTILES))
    found: Floats = np.percentile(there, [*_PERCENTILES])
    return found
