"""How many samples each step trains on."""

import numpy as np

from stepscope.analyze.intervals import Indices, step_of
from stepscope.analyze.steps.loops import Mask
from stepscope.analyze.steps.optimizer_runs import ONE_TRAINING
from stepscope.clock import Ints
from stepscope.store.events import MOST_SAMPLES, Spans
from stepscope.store.format import ForwardFlag, SpanCategory, StepMark
from stepscope.store.reader import ProcessData


def samples_by_step(
    process: ProcessData, thread: int, start_ns: Ints, end_ns: Ints, begins: Indices = ONE_TRAINING
) -> Ints:
    """As the framework reports; else from the batches that were fetched, or from each step's first
    forward."""
    marks = process.step_marks.on(thread)
    marks = marks[marks.who == StepMark.FRAMEWORK]
    if len(marks) == len(start_ns) and marks.samples.any():
        return marks.by_start().samples
    spans = process.spans.on(thread)
    fetched = _summed(_trained_on(spans), start_ns, end_ns)
    if fetched.any():
        return fetched
    computed = _computed_samples(spans, start_ns, end_ns)
    if computed.any():
        return computed
    return _forward_samples(spans, start_ns, end_ns, begins)


def _trained_on(spans: Spans) -> Spans:
    """The batches that are followed by a pass with gradients before the next batch comes."""
    inputs = spans.of(SpanCategory.INPUT).by_start()
    with_gradients = (spans.flags & int(ForwardFlag.NO_GRAD)) == 0
    is_pass = spans.are(SpanCategory.FORWARD) & with_gradients
    is_pass |= spans.are(SpanCategory.BACKWARD, SpanCategory.COMPUTE)
    passes_ns = np.sort(spans[is_pass & ~spans.is_dropped].start_ns)
    before_next = np.searchsorted(passes_ns, inputs.start_ns)
    return inputs[np.append(before_next[1:], len(passes_ns)) > before_next]


def _summed(spans: Spans, start_ns: Ints, end_ns: Ints) -> Ints:
    total = np.zeros(len(start_ns), np.int64)
    step = step_of(spans.start_ns, start_ns, end_ns)
    kept = (step >= 0) & (spans.samples < MOST_SAMPLES)
    np.add.at(total, step[kept], spans.samples[kept])
    return total


def _computed_samples(spans: Spans, start_ns: Ints, end_ns: Ints) -> Ints:
    """What the first compiled function of each step was given, each time it was called; only
    once if others are called beside it (a discriminator sees a batch, then generated samples)."""
    spans = spans.of(SpanCategory.COMPUTE)
    spans = spans[spans.samples > 0]
    step = step_of(spans.start_ns, start_ns, end_ns)
    spans, step = spans[step >= 0], step[step >= 0]
    total = np.zeros(len(start_ns), np.int64)
    those, first, index = np.unique(step, return_index=True, return_inverse=True)
    is_others: Mask = spans.number != spans.number[first][index]
    with_others = np.bincount(index, is_others, len(those)) > 0
    counts = np.where(with_others[index], np.arange(len(spans)) == first[index], ~is_others)
    np.add.at(total, step[counts], spans.samples[counts])
    return total


def _forward_samples(spans: Spans, start_ns: Ints, end_ns: Ints, begins: Indices) -> Ints:
    """Of each training's first module: once, or for each backward if there is one for each of its
    forwards (gradient accumulation, but not an optimizer that asks the model several times)."""
    forwards = spans.of(SpanCategory.FORWARD)
    forwards = forwards[(forwards.flags == 0) & (forwards.samples > 0)]
    if not len(forwards):
        return np.zeros(len(start_ns), np.int64)
    forwards = _of_first_module(forwards, start_ns[begins[1:]])
    steps = spans.of(SpanCategory.OPTIMIZER)
    steps = steps[steps.number > 0]
    is_asked_again = step_of(forwards.start_ns, *steps.interval_ns).max() >= 0
    is_alone = len(np.unique(steps.number)) <= len(begins)
    backwards = int(spans.are(SpanCategory.BACKWARD).sum())
    if is_alone and not is_asked_again and len(forwards) == backwards:
        return _summed(forwards, start_ns, end_ns)
    step = step_of(forwards.start_ns, start_ns, end_ns)
    _, first = np.unique(step, return_index=True)
    return _summed(forwards[first], start_ns, end_ns)


def _of_first_module(forwards: Spans, begin_ns: Ints) -> Spans:
    """`begin_ns`: of each training but the first."""
    training = np.searchsorted(begin_ns, forwards.start_ns, side="right")
    _, first, index = np.unique(training, return_index=True, return_inverse=True)
    return forwards[forwards.name == forwards.name[first][index]]
