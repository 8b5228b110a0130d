"""Loading beside the step: work that other processes do, as far as there are cores to run them."""

import dataclasses
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_AHEAD: Final = 2  # batches that a worker prepares before they are asked for: torch's own default


@dataclasses.dataclass(frozen=True)
class Overlap:
    """Loading in other processes: what each batch needs there, and what the step needs itself."""

    load_ns: Floats  # of a batch, in one process
    rest_ns: Floats  # of the step without the wait
    load_cpu_ns: float  # CPU time of the loading, mean: the rest of it waits for a disk or a server
    rest_cpu_ns: float  # of the rest, all threads, mean
    cores: float
    hand_over_ns: float  # for the step to take its batches from them

    def best(self, numbers: Iterable[int], now: int) -> int:
        """The fewest workers with the largest gain, to the percent."""
        return min(numbers, key=lambda workers: (-round(self.gained(workers, now), 2), workers))

    def gained(self, workers: int, now: int) -> float:
        """The part of the step that goes away with so many workers instead of as many as `now`: the
        simulation of both, so that its own errors go away, too."""
        before = self.step_ns(now) if now else float((self.load_ns + self.rest_ns).mean())
        return max(0.0, 1 - self.step_ns(workers) / before)

    def least_gained(self, workers: int, now: int) -> float:
        """The same, if every batch takes as long then as a slow one does now, of ten."""
        slower = self._slow().step_ns(workers) / self.step_ns(workers)
        return max(0.0, 1 - (1 - self.gained(workers, now)) * slower)

    def _slow(self) -> "Overlap":
        load = np.maximum(self.load_ns, np.percentile(self.load_ns, 90))
        times = float(load.mean() / max(1.0, self.load_ns.mean()))
        return dataclasses.replace(self, load_ns=load, load_cpu_ns=times * self.load_cpu_ns)

    def step_ns(self, workers: int) -> float:
        """The mean step with that many workers.

        1. Workers take the batches in turn, each a few ahead, and never more than `_AHEAD` each.
        2. A step begins when its batch is there and the step before has ended.
        3. What all processes compute in a step cannot be more than the cores can.
        """
        count = len(self.rest_ns)
        free_at = np.zeros(workers)
        ready = np.zeros(count)
        began = np.zeros(count + 1)
        end = 0.0
        for index in range(count):
            worker = index % workers
            asked = began[max(0, index - _AHEAD * workers)]
            free_at[worker] = ready[index] = max(free_at[worker], asked) + self.load_ns[index]
            began[index] = max(end, ready[index])
            end = began[index] + self.rest_ns[index] + self.hand_over_ns
        first = min(count - 1, _AHEAD * workers)  # past the filling of the queue
        simulated = (end - began[first]) / (count - first)
        least = (self.rest_cpu_ns + self.load_cpu_ns) / self.cores
        return float(max(simulated, least))
