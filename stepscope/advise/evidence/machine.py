"""The cores that the steps had, and those that other programs took from them."""

import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.words import percent
from stepscope.analyze.counters import grown
from stepscope.analyze.input.cores import LEAST_IDLE, cores_of, idle_cores, used_cores
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData, Run

Floats = npt.NDArray[np.float64]

# Of the time. A thread that shares its core with one other has none for half of it, and a machine
# that does nothing else still takes a few percent: from here on times are not the script's own.
_LEAST_DELAY: Final = 0.2
_LEAST_SHARED: Final = 0.05  # of the time
_LEAST_CORE: Final = 0.05  # dividing by it makes at most twenty times as much
_PERCENTILES: Final = range(50, 0, -1)  # of the steps: from the median down to the very luckiest


class Machine:
    """`window`: starts and ends of the measured steps."""

    def __init__(self, run: Run, process: ProcessData, window: tuple[Ints, Ints]) -> None:
        self._run = run
        self._process = process
        self._window = window

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

    @functools.cached_property
    def delay_by_step_ns(self) -> npt.NDArray[np.float64]:
        """How long the main thread was ready in each measured step but had no core."""
        memory = self._process.memory
        return grown(memory.at_ns, memory.run_delay_ns, self._window)

    @functools.cached_property
    def without_core(self) -> float:
        """The share of the measured time in which the main thread was ready but had no core."""
        measured_ns = float((self._window[1] - self._window[0]).sum())
        return min(1.0, float(self.delay_by_step_ns.sum()) / max(1.0, measured_ns))

    @property
    def is_shared(self) -> bool:
        """Whether others had the core for more than a machine's own chores take."""
        return self.without_core >= _LEAST_SHARED

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
    """Of each phase: the same percentile of all, so that together they take what the usual step has
    its core for. Where hardly a step kept its core in a phase there is none: all lost alike."""
    own = float(np.median(phases_ns.sum(axis=1) - lost_ns))
    by_percentile: Floats = np.percentile(phases_ns, [*_PERCENTILES], axis=0)  # sorts once
    fitting = by_percentile[by_percentile.sum(axis=1) <= own]
    return fitting[0] if len(fitting) else np.zeros(phases_ns.shape[1])
