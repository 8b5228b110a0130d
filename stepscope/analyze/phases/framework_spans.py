"""The spans that a framework's hooks recorded, as the phases that people know.

1. What the loader calls is input. A module's call inside backward is part of it (activation
   checkpointing).
2. Forward passes without gradients are evaluation, unless the training needs them: evaluation.py.
3. From the end of the input to the next forward or transfer is `prepare`. A forward pass without
   gradients in between is not part of it and does not end it: it may ask a policy for the next
   action.
4. From the end of forward to the next forward or to backward is still forward: the loss. That
   needs a pass with gradients, unless backward comes next. If no module is called at all, forward
   begins after the input or with the loop's turn.
5. If no optimizer is used, what follows backward is a hand-written update.
6. A compiled function that does the passes and the update in one is `compute`, and counts as a pass
   for all of the above.
"""

import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.analyze.phases.evaluation import with_evaluation
from stepscope.analyze.phases.span_table import (
    INTERRUPTIONS,
    NO_BATCH_YET,
    OF_FRAMEWORKS,
    Mask,
    Spans,
    inside_any,
    sorted_spans,
    without_gradients,
)
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_NOT_PHASES: Final = (
    SpanCategory.REGION,
    SpanCategory.IMPORT,
    SpanCategory.STAGE,
    SpanCategory.ACTION,
    SpanCategory.MODULE,
)
PHASES: Final = tuple(category for category in SpanCategory if category not in _NOT_PHASES)
# Reported apart from input: it happens there but is not the loading's fault.
_STAY_IN_INPUT: Final = (
    *INTERRUPTIONS,
    SpanCategory.TRANSFER,
    SpanCategory.COMMUNICATION,
    SpanCategory.COMPILE,
)
# What may lie between forward and backward without being a phase of its own.
_BETWEEN: Final = (
    *INTERRUPTIONS,
    SpanCategory.OPTIMIZER,
    SpanCategory.COMMUNICATION,
    SpanCategory.LOGGING,
)
# What preparation begins or ends with.
_PASSES: Final = (
    SpanCategory.INPUT,
    SpanCategory.TRANSFER,
    SpanCategory.FORWARD,
    SpanCategory.BACKWARD,
    SpanCategory.COMPUTE,
    SpanCategory.EVALUATION,
)


def is_trained_by_framework(process: ProcessData) -> bool:
    return bool(process.spans.are(*OF_FRAMEWORKS).any())


@functools.lru_cache(maxsize=64)
def phase_spans(process: ProcessData, steps: FoundSteps) -> Spans:
    """The phases on the thread that has the steps."""
    spans = _without_calls_of_input(_recorded(process, steps))
    if not spans.of(*OF_FRAMEWORKS).any():
        return spans
    spans = _without_recomputation(spans)
    spans = with_evaluation(spans, steps)
    spans = _with_loss(spans, steps)
    spans = _with_update(spans, steps)
    return _with_preparation(spans, steps)


def _recorded(process: ProcessData, steps: FoundSteps) -> Spans:
    thread = steps.thread if len(steps) else process.main_thread
    spans = steps.handed.of(process.spans.of(*PHASES), thread)
    is_start = np.isin(spans.name, _names_of_starts(process))
    samples = np.where(is_start, NO_BATCH_YET, spans.samples)
    return sorted_spans(
        *spans.interval_ns, spans.category.astype(np.int64), spans.name.astype(np.int64),
        samples, spans.number, spans.flags, spans.group,
    )  # fmt: skip


def _names_of_starts(process: ProcessData) -> list[int]:
    """Names of the spans in which a loader starts over."""
    return [span.id for span in process.names.spans.values() if span.name.endswith(".__iter__")]


def _without_calls_of_input(spans: Spans) -> Spans:
    """A transform that is a module, a print in a dataset: the wait for the batch is input."""
    waits = spans.of(SpanCategory.INPUT)
    return spans.only(waits | spans.of(*_STAY_IN_INPUT) | ~inside_any(spans, waits))


def _without_recomputation(spans: Spans) -> Spans:
    backward = spans.of(SpanCategory.BACKWARD)
    return spans.only(~(spans.of(SpanCategory.FORWARD) & inside_any(spans, backward)))


# --- loss and preparation -------------------------------------------------------------------------


def _with_loss(spans: Spans, steps: FoundSteps) -> Spans:
    """What lies between a forward and the forward or backward that follows it."""
    is_step = spans.of(SpanCategory.OPTIMIZER) & (spans.number > 0)
    phases = spans.only(~spans.of(*_BETWEEN) | is_step)
    forward, backward = phases.of(SpanCategory.FORWARD), phases.of(SpanCategory.BACKWARD)
    if not forward.any():
        begin, end = _since_input(phases, np.flatnonzero(backward & ~phases.with_forward()), steps)
        return spans.plus(begin, end, SpanCategory.FORWARD)
    to_loss = (_has_graph(phases)[:-1] & forward[1:]) | backward[1:]
    before = np.flatnonzero(forward[:-1] & to_loss)
    return spans.plus(phases.end_ns[before], phases.start_ns[before + 1], SpanCategory.FORWARD)


def _has_graph(phases: Spans) -> Mask:
    """Whether this or an earlier forward pass has gradients, with no backward or update since."""
    at = np.arange(len(phases))
    makes = phases.of(SpanCategory.FORWARD) & ~without_gradients(phases)
    uses = phases.of(SpanCategory.BACKWARD, SpanCategory.OPTIMIZER)
    made, used = (np.maximum.accumulate(np.where(each, at, -1)) for each in (makes, uses))
    mask: Mask = made > used
    return mask


def _with_update(spans: Spans, steps: FoundSteps) -> Spans:
    """From the last backward to the step's end, if only the script itself updates weights."""
    if spans.of(SpanCategory.OPTIMIZER).any():
        return spans
    backward = spans.of(SpanCategory.BACKWARD)
    step = intervals.step_of(spans.start_ns[backward], steps.start_ns, steps.end_ns)
    begin = np.zeros(len(steps), np.int64)
    np.maximum.at(begin, step[step >= 0], spans.end_ns[backward][step >= 0])
    known = begin > 0
    return spans.plus(begin[known], steps.end_ns[known], SpanCategory.OPTIMIZER)


def _since_input(
    phases: Spans, backward: npt.NDArray[np.intp], steps: FoundSteps
) -> tuple[Ints, Ints]:
    end = phases.start_ns[backward]
    marks = np.concatenate([steps.start_ns, steps.header_ns, phases.end_ns])
    begin = _latest_before(marks, end)
    known = begin > 0
    return begin[known], end[known]


def _with_preparation(spans: Spans, steps: FoundSteps) -> Spans:
    in_optimizer = inside_any(spans, spans.of(SpanCategory.OPTIMIZER))
    passes = spans.only(spans.of(*_PASSES) & ~in_optimizer)  # LBFGS calls the model itself
    is_pass = passes.of(SpanCategory.FORWARD, SpanCategory.TRANSFER, SpanCategory.COMPUTE)
    is_pass |= passes.with_forward()
    end = passes.start_ns[is_pass]
    # A step's own start counts only if no turn of the loop begins in it.
    turns_ns = np.concatenate([steps.start_ns, steps.header_ns])
    begin = _latest_before(np.concatenate([passes.end_ns, turns_ns]), end)
    ends_it = ~without_gradients(passes)
    since = _latest_before(np.concatenate([passes.end_ns[ends_it], turns_ns]), end)
    is_batch = passes.of(SpanCategory.INPUT) & (passes.samples != NO_BATCH_YET)
    from_input = np.isin(since, passes.end_ns[is_batch])
    # Before a compiled function, the framework's own callbacks run there.
    is_known = (len(steps.header_ns) == 0) & ~passes.of(SpanCategory.COMPUTE)[is_pass]
    from_turn = np.isin(since, steps.header_ns) | (np.isin(since, steps.start_ns) & is_known)
    kept = from_input | from_turn
    return spans.plus(begin[kept], end[kept], SpanCategory.PREPARE)


def _latest_before(marks_ns: Ints, at_ns: Ints) -> Ints:
    """The last of the marks up to each moment, 0: none."""
    marks = np.sort(marks_ns)
    if not len(marks):
        return np.zeros(len(at_ns), np.int64)
    index = np.searchsorted(marks, at_ns, side="right") - 1
    return np.where(index >= 0, marks[np.maximum(index, 0)], 0)
