"""What a device did in each step.

1. In a trace of torch, steps are its marks, each until the last kernel is done that it launched; in
   an xplane, those of XProf.
2. In a window of a run, the steps that were found in the run and lie in the window.
"""

import dataclasses

import numpy as np

from stepscope.analyze.operators.device_times import Times
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.traces.devices import Work
from stepscope.analyze.traces.marks import StepNumbers
from stepscope.analyze.traces.tensorboard_steps import Spans, step_spans
from stepscope.analyze.traces.windows import Window, causes_of, steps_begun
from stepscope.analyze.traces.xprof_steps import xprof_steps
from stepscope.importers.trace import Trace
from stepscope.model.ops import DeviceStep
from stepscope.store.reader import ProcessData, Run


@dataclasses.dataclass(frozen=True, eq=False)
class DevicePart:
    """One device in one window."""

    window: Window
    work: Work
    times: Times


def count_steps(run: Run, process: ProcessData, parts: list[DevicePart]) -> int | None:
    """How many began in the windows; in a trace without a recording around it, those of its steps
    that `show steps` has."""
    found = 0
    for part in parts:
        if part.window.start_ns is not None:
            begun = steps_begun(part.window, find_steps(run, process).start_ns)
            found += int(begun.sum())
        else:
            found += len(spans_of(run, process, part.window, part.work.trace))
    return found or None


def steps_of(run: Run, process: ProcessData, part: DevicePart) -> list[DeviceStep]:
    spans = spans_of(run, process, part.window, part.work.trace)
    figures = part.times.between(spans.start_ns, spans.end_ns)
    begin_ns = part.work.first_ns
    columns = [each.tolist() for each in (*figures.values(), spans.end_ns - spans.start_ns)]
    times = zip(*columns, strict=True)
    names = [*figures, "duration_ns"]
    numbers, begins = spans.numbers.number.tolist(), (spans.start_ns - begin_ns).tolist()
    return [
        DeviceStep(number=number, start_ns=start, **dict(zip(names, row, strict=True)))
        for number, start, row in zip(numbers, begins, times, strict=True)
    ]


def spans_of(run: Run, process: ProcessData, window: Window, trace: Trace) -> Spans:
    """The steps of a window or trace, in Unix time; none, if nothing marks them."""
    if window.start_ns is not None and window.end_ns is not None:
        found = find_steps(run, process)
        inside = (found.start_ns >= window.start_ns) & (found.end_ns <= window.end_ns)
        kept = np.flatnonzero(inside)
        to_unix = -process.clock.monotonic_ns(0)
        numbers = StepNumbers(kept + 1, are_own=False)
        return Spans(found.start_ns[kept] + to_unix, found.end_ns[kept] + to_unix, numbers)
    causes = causes_of(window)
    if causes is None:
        return step_spans(trace)
    steps = xprof_steps(causes)
    return Spans(steps.start_ns, steps.end_ns, steps.numbers)
