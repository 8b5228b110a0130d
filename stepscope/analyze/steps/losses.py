"""The losses of a training in the order in which they were computed, and the step of each."""

import dataclasses

import numpy as np
import numpy.typing as npt

from stepscope.analyze.steps.find_steps import find_steps
from stepscope.clock import Ints
from stepscope.store.reader import Run


@dataclasses.dataclass(frozen=True, eq=False)
class Losses:
    """All arrays have one entry per loss. A step may have several: a GAN's, accumulated ones."""

    step: Ints  # from 0 on
    which: Ints  # its number in the step, from 0 on
    value: npt.NDArray[np.float64]
    is_running_mean: bool = False  # over the batches since the epoch began, as Keras reports it

    def __len__(self) -> int:
        return len(self.value)


def losses(run: Run) -> Losses:
    """Of the main process, or of the first rank; none without --losses."""
    process = run.main
    if process is None:
        none = np.zeros(0, np.int64)
        return Losses(none, none, np.zeros(0))
    found = process.losses.by_start()
    step = _step_of(found.at_ns, find_steps(run, process).end_ns)
    return Losses(step, _numbers_within(step), found.value, bool(found.is_running_mean.any()))


def _step_of(at_ns: Ints, end_ns: Ints) -> Ints:
    """The step that ends after it; the last one also has what comes after it, such as the second
    loss of a GAN. Without steps, each loss counts as one."""
    if not len(end_ns):
        return np.arange(len(at_ns))
    return np.minimum(np.searchsorted(end_ns, at_ns), len(end_ns) - 1)


def _numbers_within(step: Ints) -> Ints:
    _, first, counts = np.unique(step, return_index=True, return_counts=True)
    return np.arange(len(step)) - np.repeat(first, counts)
