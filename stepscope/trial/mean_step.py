"""The mean step of a run, of the same steps as in the baseline.

Where a framework or the script says what a step is, it says the same in every run. A loop that was
recognised as the step loop may not be any more when a fix made it fast (under 1 ms a turn, or a
small part of a short run): so the baseline's loop is looked up by its place.
"""

from typing import NamedTuple

import numpy as np

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.run import Run, code_location, load
from stepscope.analyze.steps.find_steps import find_steps, loop_anchor
from stepscope.analyze.steps.loops import Loop, read_loops
from stepscope.analyze.steps.warmup import warmup_steps


class NoSteps(Exception):
    """The message says why there are none."""


class MeasuredSteps(NamedTuple):
    mean_ms: float
    seconds: float  # in all steps, warm-up included


def measured_steps(folder: str, anchor: str | None) -> MeasuredSteps:
    """`anchor`: what the steps of the baseline are."""
    run = load(folder)
    loop = _same_loop(run, anchor)
    if loop is not None:
        durations = loop.duration_ns
        mean_ms = float(durations[warmup_steps(durations) :].mean()) / 1e6
        return MeasuredSteps(mean_ms, float(durations.sum()) / 1e9)
    answer = steps(run)
    if answer.step_ms is None:
        raise NoSteps(answer.reason or "no steps were found")
    return MeasuredSteps(answer.step_ms.mean, seconds_in_steps(run))


def seconds_in_steps(run: Run) -> float:
    return float(find_steps(run, run.main).duration_ns.sum()) / 1e9


def samples_in_step(folder: str) -> float | None:
    """The usual number: an epoch's last batch may be smaller, and come more often where batches are
    larger. None if it is not known."""
    run = load(folder)
    samples = find_steps(run, run.main).samples if run.main else np.zeros(0)
    known = samples[samples > 0]
    return float(np.median(known)) if len(known) else None


def _same_loop(run: Run, anchor: str | None) -> Loop | None:
    """Of several threads, the one that holds the most time."""
    process = run.main
    if process is None or anchor is None:
        return None
    for loop in read_loops(run, process):
        location = code_location(run, process, loop.name.code, loop.name.line)
        if len(loop.duration_ns) and loop_anchor(location, loop.name.line) == anchor:
            return loop
    return None
