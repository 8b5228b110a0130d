"""The mean step of a run, of the same steps as in the baseline.

Where a framework or the script says what a step is, it says the same in every run. A loop that was
recognised as the step loop may not be any more when a fix made it fast (under 1 ms a turn, or a
small part of a short run): so the baseline's loop is looked up by its place.

What other programs took is not the script's: while its main thread was ready but had no core, the
system counts how long that was, and whoever else computed had it. Of two equal runs on a machine
with ten times as much to do as it has cores, the steps differ by up to 30 %, and mostly by a few
percent without that.
"""

from typing import Final, NamedTuple

import numpy as np

from stepscope.analyze.answers.steps import steps
from stepscope.analyze.counters import grown
from stepscope.analyze.input.cores import Pairs, cores_of_others, used_cores
from stepscope.analyze.run import Run, code_location, load
from stepscope.analyze.steps.find_steps import find_steps, loop_anchor
from stepscope.analyze.steps.loops import Loop, read_loops
from stepscope.analyze.steps.warmup import warmup_steps
from stepscope.store.reader import ProcessData

_MOST_LOST: Final = 0.98  # of the time: what is left must be something to compare


class NoSteps(Exception):
    """The message says why there are none."""


class MeasuredSteps(NamedTuple):
    mean_ms: float
    seconds: float  # in all steps, warm-up included
    lost: float | None  # share of the time in which other programs had the core; None: not known


def measured_steps(folder: str, anchor: str | None) -> MeasuredSteps:
    """`anchor`: what the steps of the baseline are."""
    run = load(folder)
    loop = _same_loop(run, anchor)
    if loop is not None:
        first = warmup_steps(loop.duration_ns)
        window = loop.start_ns[first:], loop.end_ns[first:]
        return _measured(run, window, loop.thread, float(loop.duration_ns.sum()))
    answer, found = steps(run), find_steps(run, run.main)
    if answer.step_ms is None:
        raise NoSteps(answer.reason or "no steps were found")
    window = found.start_ns[found.is_measured], found.end_ns[found.is_measured]
    return _measured(run, window, found.thread, float(found.duration_ns.sum()))


def _measured(run: Run, window: Pairs, thread: int, all_ns: float) -> MeasuredSteps:
    mean_ms = float((window[1] - window[0]).mean()) / 1e6
    lost = _lost(run, run.main, window, thread) if run.main else None
    return MeasuredSteps(mean_ms, all_ns / 1e9, lost)


def _lost(run: Run, process: ProcessData, window: Pairs, thread: int) -> float | None:
    """The thread's wait for a core, and of that the part of the others who had one: threads and
    processes of the run's own are not others."""
    lasted_ns = float((window[1] - window[0]).sum())
    others = cores_of_others(run, process, window)
    if others is None or not lasted_ns:
        return None
    cpu, memory = process.cpu.on(thread), process.memory
    itself = float(grown(cpu.at_ns, cpu.thread_ns, window).sum()) / lasted_ns
    own = max(0.0, used_cores(run, process, window) - itself)
    waited = float(grown(memory.at_ns, memory.run_delay_ns, window).sum()) / lasted_ns
    return min(_MOST_LOST, waited * others / (others + own)) if others else 0.0


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
