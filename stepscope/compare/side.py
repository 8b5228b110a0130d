"""One side of a comparison: the measured steps of a run, or of a trace that another tool wrote."""

import dataclasses
import functools
import os

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import Case
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.counters import grown
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.errors import InputError
from stepscope.model import Step, StepsAnswer
from stepscope.model.comparison import ComparedRun
from stepscope.store.reader import ProcessData, Run

Floats = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class Side:
    run: Run
    process: ProcessData
    answer: StepsAnswer

    @property
    def name(self) -> str:
        return os.fspath(self.run.path)

    @property
    def is_trace(self) -> bool:
        return self.process.folder.is_file()

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

    def described(self) -> ComparedRun:
        assert self.answer.step_ms is not None  # there are measured steps
        assert self.answer.rate is not None
        cpu = self.cpu_ns
        return ComparedRun(
            run=self.name,
            steps=len(self.each),
            step_ms=self.answer.step_ms,
            per_s=self.answer.rate.per_s,
            samples_per_s=self.answer.rate.samples_per_s,
            batch_size=self.batch_size,
            cpu_ms=float(cpu.mean()) / 1e6 if cpu is not None else None,
            without_core=self.without_core,
            peak_bytes=self.peak_bytes,
        )


def side_of(run: Run) -> Side:
    """Refuses a run that has no measured steps."""
    process = run.main
    answer = steps(run, each=True)
    if process is None or not answer.measured:
        raise InputError(
            f"'{run.path}' cannot be compared: {answer.reason or 'it has no measured steps.'}"
        )
    return Side(run, process, answer)
