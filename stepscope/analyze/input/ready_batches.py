"""What the batches of a step cost even if they are ready: no faster loading takes that away."""

import dataclasses
from typing import Final

import numpy as np

from stepscope.analyze.input.loaders import Loader, Pairs, find_loader, stage_spans
from stepscope.analyze.intervals import step_of
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData, Run

# A batch of tensors from another process: only for runs without workers, the others have their own
# (`python -m benchmarks.gain_constants`).
HAND_OVER_NS: Final = 400_000.0
# Tensors stay in shared memory and need no longer, whatever their size. Python objects are made
# again one by one (the same command measures both).
_MOST_FOR_TENSORS_NS: Final = 2_000_000.0
_SHORTEST: Final = 10  # percent of the batches: on a busy machine these, too, had their core


@dataclasses.dataclass(frozen=True)
class HandOver:
    batches: float  # of a step
    batch_ns: float

    @property
    def step_ns(self) -> float:
        return self.batches * self.batch_ns


def hand_over(run: Run, process: ProcessData, steps: FoundSteps) -> HandOver:
    """What workers would take; in a run that has some, what they took, as far as it is needed:
    loading in the training process, or sending tensors, may cost less."""
    loader = find_loader(run, process, steps)
    if loader is None:
        return HandOver(1.0, HAND_OVER_NS)
    measured = steps.start_ns[steps.is_measured], steps.end_ns[steps.is_measured]
    waits = _waits_in(loader, measured)
    batches = len(waits[0]) / max(1, len(measured[0]))
    if not loader.workers or not len(waits[0]):
        return HandOver(batches, HAND_OVER_NS)
    taken_ns = _taken_ns(process, loader, waits)
    least_ns = min(_MOST_FOR_TENSORS_NS, _shortest(_loaded_ns(loader)))
    needed = min(1.0, least_ns / max(1.0, _shortest(taken_ns)))
    return HandOver(batches, needed * float(taken_ns.mean()))


def _waits_in(loader: Loader, window: Pairs) -> Pairs:
    inside = step_of(loader.waits[0], *window) >= 0
    return loader.waits[0][inside], loader.waits[1][inside]


def _taken_ns(process: ProcessData, loader: Loader, waits: Pairs) -> Ints:
    """Of each wait, what is left once its batch has arrived. If none arrived in it, its batch came
    while another one was waited for. If a thread that pins memory takes them, it is not known: 0.
    """
    arrived = np.sort(stage_spans(process, "get").on(loader.thread).start_ns)
    if not len(arrived):
        return np.zeros(len(waits[0]), np.int64)
    last = arrived[np.maximum(0, np.searchsorted(arrived, waits[1]) - 1)]
    return waits[1] - np.clip(last, *waits)


def _loaded_ns(loader: Loader) -> Ints:
    """Of each batch, in its worker: the training process itself can load it in the same time."""
    spans = [stage_spans(each, "fetch") for each in loader.processes]
    lasted = [each.end_ns - each.start_ns for each in spans]
    return np.concatenate([np.zeros(0, np.int64), *lasted])


def _shortest(lasted_ns: Ints) -> float:
    return float(np.percentile(lasted_ns, _SHORTEST)) if len(lasted_ns) else np.inf
