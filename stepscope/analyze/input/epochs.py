"""Where the loader of the steps starts over, and whether the script keeps it for all epochs."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.input.loaders import are_starts, loader_spans
from stepscope.analyze.intervals import step_of
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.store.events import Spans
from stepscope.store.reader import ProcessData

_LEAST_STEPS: Final = 2  # a loader that one step empties evaluates
_MOST: Final = 0.5  # of the steps from its first batch to its last


@dataclasses.dataclass(frozen=True, eq=False)
class Epochs:
    begins: npt.NDArray[np.bool_]  # by measured step
    keeps_loader: bool  # and does not make a new one for each


def epochs_of(process: ProcessData, steps: FoundSteps) -> Epochs:
    """Of the loaders that steps in a row take their batches from, however many there are."""
    spans = loader_spans(process)
    is_start = are_starts(process, spans)
    waits, starts = spans[~is_start], spans[is_start]
    numbers = [each for each in np.unique(waits.loader).tolist() if _trains(waits, each, steps)]
    starts = starts[np.isin(starts.loader, numbers)]
    measured = np.flatnonzero(steps.is_measured)
    begun = np.unique(step_of(starts.start_ns, steps.start_ns, steps.end_ns))
    return Epochs(np.isin(measured, begun), len(numbers) < max(2, len(starts)))


def _trains(waits: Spans, number: int, steps: FoundSteps) -> bool:
    at_ns = waits.start_ns[waits.loader == number]
    step = np.unique(step_of(at_ns, steps.start_ns, steps.end_ns))
    step = step[step >= 0]
    if len(step) < _LEAST_STEPS:
        return False
    return bool(len(step) >= _MOST * (step[-1] - step[0] + 1))
