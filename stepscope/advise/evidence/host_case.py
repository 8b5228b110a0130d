"""What the rules about a trace of the CPU look at: its steps and its operators."""

import functools
from typing import Final

from stepscope.advise.evidence.case import CannotJudge
from stepscope.analyze.operators.host_steps import HostTime, host_time
from stepscope.frameworks.facts import Words
from stepscope.frameworks.table import words_of
from stepscope.store.reader import ProcessData, Run

NO_STEPS: Final = (
    "nothing marks the steps in this trace: record it with a schedule and call the profiler's "
    "step() after each"
)
# Profiling takes 0.5 µs an operator and more with shapes or stacks, which is in the trace.
RECORDED: Final = "what the profiler itself took is in the trace, and not known"


class HostCase:
    def __init__(self, run: Run, process: ProcessData) -> None:
        self.run = run
        self.process = process

    @functools.cached_property
    def host(self) -> HostTime:
        found = host_time(self.run, self.process)
        if found is None:
            raise CannotJudge("no operators in this trace")
        return found

    @property
    def by_step(self) -> HostTime:
        """For rules that need to know what a step is."""
        if not self.host.is_by_step:
            raise CannotJudge(NO_STEPS)
        return self.host

    @property
    def step_ns(self) -> float:
        return self.host.mean_ns

    @property
    def is_torchs(self) -> bool:
        return self.host.part.tree.trace.framework == "torch"

    @property
    def words(self) -> Words:
        """The words of the framework that the trace comes from."""
        return words_of(self.host.part.tree.trace.framework)
