"""The step as a small simulation of what it needs: the main thread, workers, cores.

Built from the steps as they were recorded, one by one, so that a fix's gain has the spread of the
steps behind it. Taking a piece away shortens each step by it. Moving work to other processes lets
it overlap with the rest, as far as there are workers, and cores to run them.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.gain.saving import Saving
from stepscope.model.findings import Speedup

Floats = npt.NDArray[np.float64]

_DRAWS: Final = 200  # ten of them lie beyond each end of the range
# The more is taken away, the more the rest changes: caches stay warm and there is less to free, or
# what the fix does instead takes time itself. Measured on the scripts of benchmarks/zoo.
_LEFT: Final = -0.1
_LEFT_FASTER: Final = -0.3
_LEFT_SLOWER: Final = 0.1
_LEAST_LEFT: Final = 0.01  # of the step: nothing takes no time, so no gain is above 100 times
# Of what the previous fixes left: their sum may be more than the step, as each has its own error.
_LEAST_STILL_LEFT: Final = 0.02
_AHEAD: Final = 2  # batches that a worker prepares before they are asked for: torch's own default


def speedup(duration_ns: npt.NDArray[np.int64], saving: Saving) -> Speedup:
    """Of the mean step. The range: what the fix may take off, how what is left may change, and the
    spread of the steps."""
    mean = float(duration_ns.mean())
    low_mean, high_mean = _mean_range(duration_ns)
    expected = _ratio(mean, saving.expected, _LEFT)
    return Speedup(
        expected=expected,
        low=min(_ratio(high_mean, saving.least, _LEFT_SLOWER), expected),
        high=max(_ratio(low_mean, saving.most, _LEFT_FASTER), expected),
    )


def one_after_another(mean_ns: float, savings: Sequence[Saving]) -> list[float]:
    """What each fix still gains when those before it are made: they share the same step."""
    left, gains = mean_ns, []
    for saving in savings:
        saved = min(saving.expected, (1 - _LEAST_STILL_LEFT) * left)
        gains.append(left / (left - saved))
        left -= saved
    return gains


def _ratio(mean_ns: float, saved_ns: float, change: float) -> float:
    """`change`: of what is left, if everything else were taken away."""
    left = (mean_ns - saved_ns) * (1 + change * max(0.0, saved_ns) / mean_ns)
    return mean_ns / max(left, _LEAST_LEFT * mean_ns)


def _mean_range(duration_ns: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Where the mean of as many other steps would lie, in nine of ten cases."""
    draws = np.random.default_rng(0).integers(0, len(duration_ns), (_DRAWS, len(duration_ns)))
    low, high = np.percentile(duration_ns[draws].mean(axis=1), [5, 95])
    return float(low), float(high)


@dataclasses.dataclass(frozen=True)
class Overlap:
    """Loading in other processes: what each batch needs there, and what the step needs itself."""

    load_ns: Floats  # CPU time of a batch, in one process
    rest_ns: Floats  # of the step without the wait
    rest_cpu_ns: float  # CPU time of the rest, all threads, mean
    cores: float
    hand_over_ns: float  # for the step to take its batches from them

    def best(self, numbers: Iterable[int], now_ns: float) -> tuple[int, float]:
        """(the fewest workers with the largest gain, to the percent; the mean step then)"""
        steps = {workers: self.step_ns(workers) for workers in numbers}
        best = min(steps, key=lambda workers: (round(steps[workers] / now_ns, 2), workers))
        return best, steps[best]

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
        least = (self.rest_cpu_ns + float(self.load_ns.mean())) / self.cores
        return float(max(simulated, least))
