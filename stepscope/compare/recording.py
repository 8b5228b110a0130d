"""One run, or one trace that another tool wrote, as far as a comparison looks at it."""

import dataclasses
import functools
import os
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import Case
from stepscope.advise.findings import findings
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.counters import grown
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.compare.statistics.run_mean import StepTimes
from stepscope.errors import InputError
from stepscope.model import Step, StepsAnswer
from stepscope.model.findings import Finding
from stepscope.store.reader import ProcessData, Run

Floats = npt.NDArray[np.float64]

# What is used between two readings of a counter is shared out by the clock, which at the ends of so
# many is off by some percent. A busy machine reads it every 50 ms: steps of 5 ms would each be off
# by as much as they take.
_READINGS: Final = 8


@dataclasses.dataclass(frozen=True, eq=False)
class Recording:
    run: Run
    process: ProcessData
    answer: StepsAnswer

    @property
    def name(self) -> str:
        return os.fspath(self.run.path)

    @property
    def is_trace(self) -> bool:
        return self.process.trace is not None

    @functools.cached_property
    def each(self) -> list[Step]:
        """The measured steps."""
        assert isinstance(self.answer.each, list)  # asked for in `side_of`
        return [step for step in self.answer.each if step.measured]

    @functools.cached_property
    def duration_ns(self) -> Ints:
        return np.array([step.duration_ns for step in self.each], np.int64)

    @property
    def mean_ns(self) -> float:
        return float(self.duration_ns.mean())

    @functools.cached_property
    def found(self) -> FoundSteps | None:
        return None if self.is_trace else find_steps(self.run, self.process)

    @functools.cached_property
    def samples(self) -> Ints | None:
        """In each step; None if any of them is not known."""
        if self.found is None:
            return None
        samples = self.found.samples[self.found.is_measured]
        return samples if len(samples) and (samples > 0).all() else None

    @property
    def batch_size(self) -> float | None:
        return float(self.samples.mean()) if self.samples is not None else None

    @functools.cached_property
    def case(self) -> Case | None:
        return None if self.is_trace else Case(self.run, self.process)

    @functools.cached_property
    def cpu_ns(self) -> Floats | None:
        """Of the thread that trains, by step; None: too few counters to tell."""
        if self.found is None or self.case is None:
            return None
        counted = self.process.cpu.on(self.found.thread)
        used = grown(counted.at_ns, counted.thread_ns, self.case.window)
        return used if len(used) and used.sum() > 0 else None

    def cpu_times(self, samples: Ints | None) -> StepTimes:
        """Of steps, or of as many in a row as it takes to tell. `samples`: to compare by sample."""
        assert self.cpu_ns is not None
        assert self.found is not None
        readings = np.sort(self.process.cpu.on(self.found.thread).at_ns)
        firsts = group_starts(readings, self.found)
        count = np.ones(len(self.cpu_ns), np.int64) if samples is None else samples
        used = np.maximum(1, np.add.reduceat(self.cpu_ns, firsts)).astype(np.int64)
        return StepTimes(used, np.add.reduceat(count, firsts), steps=len(self.cpu_ns))

    @property
    def without_core(self) -> float | None:
        return self.case.machine.without_core if self.case is not None else None

    @property
    def is_busy(self) -> bool:
        return self.case is not None and self.case.machine.busy is not None

    @functools.cached_property
    def peak_bytes(self) -> int | None:
        """Of the process that trains."""
        rows = [] if self.is_trace else memory(self.run).processes
        return next((row.peak_bytes for row in rows if row.process == self.process.process), None)

    @functools.cached_property
    def findings(self) -> list[Finding]:
        return findings(self.run).findings


def group_starts(readings_ns: Ints, steps: FoundSteps) -> Ints:
    """The first of the measured steps of each group that was read often enough."""
    measured = steps.is_measured
    ends = (np.searchsorted(readings_ns, each[measured]) for each in (steps.start_ns, steps.end_ns))
    first, last = ends
    before = np.concatenate([[0], np.cumsum(last - first)[:-1]])
    return np.unique(before // _READINGS, return_index=True)[1]


def recording_of(run: Run) -> Recording:
    """Refuses a run that has no measured steps."""
    process = run.main
    answer = steps(run, each=True)
    if process is None or not answer.measured:
        raise InputError(
            f"'{run.path}' cannot be compared: {answer.reason or 'it has no measured steps.'}"
        )
    return Recording(run, process, answer)
