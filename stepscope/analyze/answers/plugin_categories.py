"""The steps in the categories of torch's TensorBoard plugin, in its traces and operator windows."""

from typing import Final

import msgspec
import numpy as np

from stepscope.analyze.answers.xprof_categories import no_steps, steps_answer
from stepscope.analyze.input.waits_in_trace import waits_in_trace
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.traces import tensorboard_steps as plugin
from stepscope.analyze.traces.marks import StepNumbers, marked_words
from stepscope.analyze.traces.windows import read_window, windows
from stepscope.errors import DataError, InputError
from stepscope.importers.trace import Trace
from stepscope.model import StepsAnswer
from stepscope.store.reader import ProcessData, Run

_NOT_TORCHS: Final = (
    "these categories are for traces of torch: see 'stepscope show {path} steps --scheme xprof'."
)
_NO_WINDOW: Final = (
    "No step lies in an operator window of torch, so nothing is known about it in these "
    "categories. 'stepscope run --ops 10:20' records some."
)
_IN_WINDOWS: Final = "From the steps in operator windows: operators are known only there."


def of_trace(process: ProcessData) -> StepsAnswer:
    """The steps of a trace without a recording around it."""
    window = windows(process)[0]
    trace = read_window(window)
    if isinstance(trace, str):
        raise DataError(trace)
    if trace.framework != "torch":
        raise InputError(f"'{window.path}': {_NOT_TORCHS.format(path=window.path)}")
    spans = plugin.step_spans(trace)
    if not len(spans):
        raise no_steps(trace)
    answer = _answer(trace, spans, int(spans.start_ns[0]), marked_words(spans.numbers))
    waits = waits_in_trace(trace, None).about_category("DataLoader")
    return msgspec.structs.replace(answer, notes=[*trace.notes, *waits])


def of_run(run: Run, process: ProcessData | None) -> StepsAnswer:
    """The steps in the first window of torch's profiler that has any."""
    found = find_steps(run, process)
    for window in windows(process) if process is not None else []:
        trace = read_window(window)
        if process is None or isinstance(trace, str) or trace.framework != "torch":
            continue
        inside = np.flatnonzero(
            (found.start_ns >= (window.start_ns or 0)) & (found.end_ns <= (window.end_ns or 0))
        )
        if not len(inside):
            continue
        to_unix = -process.clock.monotonic_ns(0)
        start_ns, end_ns = found.start_ns[inside] + to_unix, found.end_ns[inside] + to_unix
        spans = plugin.Spans(start_ns, end_ns, StepNumbers(inside + 1, are_own=False))
        answer = _answer(trace, spans, process.start_ns + to_unix, found.anchor)
        return msgspec.structs.replace(answer, notes=[_IN_WINDOWS])
    raise InputError(_NO_WINDOW)


def _answer(trace: Trace, spans: plugin.Spans, zero_ns: int, anchor: str | None) -> StepsAnswer:
    ns = plugin.categories_by_step(trace, spans)
    return steps_answer(
        spans.start_ns - zero_ns, spans.end_ns - spans.start_ns, ns, anchor, None,
        spans.numbers.number, categories=plugin.CATEGORIES,
    )  # fmt: skip
