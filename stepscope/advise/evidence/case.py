"""What the rules look at: one run, its steps, and where their time goes, made on demand."""

import functools

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.code import Code
from stepscope.advise.evidence.machine import Machine
from stepscope.advise.evidence.stacks import Stacks
from stepscope.analyze.operators.step_operators import StepOps, step_ops
from stepscope.analyze.phases.framework_spans import is_trained_by_framework
from stepscope.analyze.phases.overhead import overhead
from stepscope.analyze.phases.step_phases import Phases
from stepscope.analyze.phases.typical_steps import Typical, typical_ns, typical_steps
from stepscope.analyze.phases.without_core import without_delay
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData, Run


class CannotJudge(Exception):
    """This run does not have what the rule needs; the message says what."""


class Case:
    def __init__(self, run: Run, process: ProcessData) -> None:
        self.run = run
        self.process = process

    @functools.cached_property
    def code(self) -> Code:
        return Code(self.run, self.process, self.steps)

    @functools.cached_property
    def stacks(self) -> Stacks:
        timed = {name: self.phase_ns(name) for name in self.phases.names}
        return Stacks(self.code, timed)

    @functools.cached_property
    def machine(self) -> Machine:
        return Machine(self.run, self.process, self.steps)

    @functools.cached_property
    def operators(self) -> StepOps:
        found = step_ops(self.run, self.process)
        if found is None:
            raise CannotJudge("no operators were recorded in this run")
        return found

    # --- steps and phases -------------------------------------------------------------------------

    @functools.cached_property
    def steps(self) -> FoundSteps:
        return find_steps(self.run, self.process)

    @functools.cached_property
    def measured_ns(self) -> Ints:
        """How long each measured step took."""
        return self.steps.duration_ns[self.steps.is_measured]

    @functools.cached_property
    def step_ns(self) -> float:
        return float(self.measured_ns.mean())

    @functools.cached_property
    def recording_share(self) -> float:
        """What recording took of the measured steps."""
        cost = overhead(self.run, self.process, self.steps)
        return cost.share if cost is not None else 0.0

    @functools.cached_property
    def window(self) -> tuple[Ints, Ints]:
        measured = self.steps.is_measured
        return self.steps.start_ns[measured], self.steps.end_ns[measured]

    @property
    def typical(self) -> Typical:
        """Which steps are slow: rules judge the others, and one rule judges those."""
        return typical_steps(self.process, self.steps)

    @property
    def phases(self) -> Phases:
        """Of slow steps, as much as of the others: the rest is the phase `outliers`."""
        return self.typical.phases

    def phase_ns(self, name: str) -> float:
        """Exclusive time in the mean measured step, as in the breakdown."""
        if not len(self.measured_ns):
            return 0.0
        return float(self.phase_by_step(name).mean())

    @functools.cached_property
    def own_phases_ns(self) -> npt.NDArray[np.float64]:
        """By measured step and phase, without the time in which the thread had no core."""
        measured = self.phases.ns[self.steps.is_measured].astype(np.float64)
        return without_delay(measured, self.machine.delay_by_step_ns)

    @functools.cached_property
    def own_part(self) -> float:
        """Of the measured steps: the time in which the thread had a core."""
        whole = max(1.0, float(self.measured_ns.sum()))
        return max(1e-3, float(self.own_phases_ns.sum()) / whole)

    def phase_by_step(self, name: str) -> Ints:
        return typical_ns(self.process, self.steps, name)

    def free_ns(self, name: str) -> float:
        """The part of a phase that no rule has claimed."""
        return self.phase_ns(name) * self.stacks.free_share(name)

    @functools.cached_property
    def is_framework(self) -> bool:
        """Whether the phases are known; if not, the whole step is the user's own Python."""
        return is_trained_by_framework(self.process) or bool(
            {"compute", "forward", "optimizer"} & set(self.phases.names)
        )
