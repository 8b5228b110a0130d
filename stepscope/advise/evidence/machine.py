"""The cores that the steps had, and those that other programs took from them."""

import functools
from typing import Final

from stepscope.advise.evidence.words import percent
from stepscope.analyze.input.cores import LEAST_IDLE, cores_of, idle_cores, used_cores
from stepscope.analyze.phases.without_core import Floats, delay_by_step_ns, without_core
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.store.reader import ProcessData, Run

# Of the time. A thread that shares its core with one other has none for half of it, and a machine
# that does nothing else still takes a few percent: from here on times are not the script's own.
_LEAST_DELAY: Final = 0.2
_LEAST_CORE: Final = 0.05  # dividing by it makes at most twenty times as much


class Machine:
    def __init__(self, run: Run, process: ProcessData, steps: FoundSteps) -> None:
        self._run = run
        self._process = process
        self._steps = steps
        measured = steps.is_measured
        self._window = steps.start_ns[measured], steps.end_ns[measured]

    @functools.cached_property
    def cores(self) -> float:
        return cores_of(self._run) or 1.0

    @functools.cached_property
    def idle_cores(self) -> float | None:
        """None: not known."""
        return idle_cores(self._run, self._process, self._window)

    @property
    def is_full(self) -> bool:
        """Whether no core is idle, as far as is known."""
        return self.idle_cores is not None and self.idle_cores < LEAST_IDLE

    @functools.cached_property
    def usable_cores(self) -> float:
        """What the run used of them and what it could have used: not what others took."""
        if self.idle_cores is None:
            return self.cores
        return max(LEAST_IDLE, used_cores(self._run, self._process, self._window) + self.idle_cores)

    @property
    def delay_by_step_ns(self) -> Floats:
        """How long the main thread was ready in each measured step but had no core."""
        return delay_by_step_ns(self._process, self._steps)

    @functools.cached_property
    def without_core(self) -> float:
        """The share of the measured time in which the main thread was ready but had no core."""
        return without_core(self._process, self._steps)

    @property
    def with_core(self) -> float:
        """How much of the time the main thread was not kept waiting for a core: what takes that
        part of the time on a machine of its own takes all of it here."""
        return max(_LEAST_CORE, 1 - self.without_core)

    @property
    def busy(self) -> str | None:
        """Set if other programs used the machine so much that they affect the times."""
        if self.without_core < _LEAST_DELAY:
            return None
        return (
            f"the machine was busy: {percent(self.without_core)} of the time the main thread was "
            "ready but had no core"
        )
