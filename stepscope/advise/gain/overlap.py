"""Loading beside the step: work that other processes do, as far as there are cores to run them."""

import dataclasses
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_AHEAD: Final = 2  # batches that a worker prepares before they are asked for: torch's own default


@dataclasses.dataclass(frozen=True)
class Overlap:
    """Loading in other processes: what each batch needs there, and what the step needs itself."""

    load_ns: Floats  # of a batch, in one process
    rest_ns: Floats  # of the step without that
    load_cpu_ns: float  # CPU time of the loading, mean: the rest of it waits for a disk or a server
    rest_cpu_ns: float  # of the rest, all threads, mean
    cores: float
    hand_over_ns: float  # for the step to take its batches from them
    begins: Mask | None = None  # the steps in which an epoch does: no batch is loaded beyond it
    start_ns: float = 0.0  # of each worker, where an epoch starts them again
    start_now_ns: float = 0.0  # the same, as the script has it now

    def best(self, numbers: Iterable[int], now: int) -> int:
        """The fewest workers with the largest gain, to the percent."""
        return min(numbers, key=lambda workers: (-round(self.gained(workers, now), 2), workers))

    def gained(self, workers: int, now: int) -> float:
        """The part of the step that goes away with so many workers instead of as many as `now`: the
        simulation of both, so that its own errors go away, too."""
        return max(0.0, 1 - self.step_ns(workers) / self.now_ns(now))

    def now_ns(self, workers: int) -> float:
        """The mean step as it is, by the same simulation."""
        if not workers:
            return float((self.load_ns + self.rest_ns).mean())
        return dataclasses.replace(self, start_ns=self.start_now_ns).step_ns(workers)

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

        1. Where an epoch begins, nothing is loaded yet, and the step before starts the workers.
        2. Workers take the batches in turn, each a few ahead, and never more than `_AHEAD` each.
        3. A step begins when its batch is there and the step before has ended.
        4. What all processes compute in a step cannot be more than the cores can.
        """
        count = len(self.rest_ns)
        begins = np.zeros(count, np.bool_) if self.begins is None else self.begins
        free_at = np.zeros(workers)
        began = np.zeros(count)
        end = opened = 0.0
        first = 0  # of its epoch
        for index in range(count):
            if begins[index]:
                first, end = index, end + workers * self.start_ns
                opened = end
            ahead = index - _AHEAD * workers
            asked = began[ahead] if ahead >= first else opened
            worker = index % workers
            free_at[worker] = max(free_at[worker], asked) + self.load_ns[index]
            began[index] = max(end, free_at[worker])
            end = began[index] + self.rest_ns[index] + self.hand_over_ns
        filled = min(count - 1, _AHEAD * workers)  # past the filling of the queue
        simulated = (end - began[filled]) / (count - filled)
        least = (self.rest_cpu_ns + self.load_cpu_ns) / self.cores
        return float(max(simulated, least))
