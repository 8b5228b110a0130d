"""What the steps' thread did in measured steps: every look of the sampler, by phase and stack.

A look is the stack at one moment and stands for the time since the look before. The share of the
looks that meet a condition is the share of the step's time, up to chance: `error` says how far off
that may be.
"""

import functools
from typing import Final

import numpy as np

from stepscope.analyze.intervals import step_of
from stepscope.analyze.phases import looks
from stepscope.analyze.phases.looks import (
    PYTHON,
    Frame,
    Look,
    StepTime,
    by_moment,
    frames_of,
    moments,
)
from stepscope.analyze.phases.seen_stalls import seen_stalls
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.store.reader import ProcessData

__all__ = ["PYTHON", "Frame", "Look", "Place", "StepTime", "function_presence", "step_time"]

_LEAST_LOOKS: Final = 5


@functools.lru_cache(maxsize=16)
def step_time(process: ProcessData, steps: FoundSteps) -> StepTime:
    """Of the measured steps, on their thread."""
    return time_in(process, steps, steps.is_measured)


def time_in(
    process: ProcessData, steps: FoundSteps, wanted: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> StepTime:
    """Of the steps that are wanted, in the phases of the breakdown."""
    return seen_stalls(process, steps).applied_to(looks.time_in(process, steps, wanted))


Place = tuple[str, int]  # file, first line


def function_presence(process: ProcessData, steps: FoundSteps) -> dict[Place, float]:
    """The part of each function's time, callees included, that is spent in steps. Functions that
    were not seen often enough are left out."""
    samples = process.samples.samples
    at_ns, node, weight = moments(process, samples)
    in_steps = step_of(at_ns, steps.start_ns, steps.end_ns) >= 0
    in_steps &= by_moment(samples, samples["thread"]) == steps.thread_at(at_ns)
    frames = frames_of(process)
    total: dict[Place, list[float]] = {}
    nodes, where = np.unique(node, return_inverse=True)
    sums = [
        np.bincount(where, weights=values, minlength=len(nodes)).tolist()
        for values in (weight, weight * in_steps, np.ones(len(weight)))
    ]
    for number, *figures in zip(nodes.tolist(), *sums, strict=True):
        for place in {(f.function.file, f.function.line) for f in frames.of(number) if f.is_users}:
            row = total.setdefault(place, [0.0, 0.0, 0.0])
            for index, figure in enumerate(figures):
                row[index] += figure
    return {
        place: inside / whole
        for place, (whole, inside, count) in total.items()
        if whole and count >= _LEAST_LOOKS
    }
