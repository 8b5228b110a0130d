"""How many samples each step trains on."""

from typing import Final, NamedTuple

import numpy as np

from stepscope.analyze.intervals import Indices, step_of
from stepscope.analyze.steps.loops import Mask
from stepscope.analyze.steps.optimizer_runs import ONE_TRAINING
from stepscope.clock import Ints
from stepscope.store.events import MOST_SAMPLES, Spans
from stepscope.store.format import ForwardFlag, SpanCategory, StepMark
from stepscope.store.reader import ProcessData

_ONE_OF: Final = "the batches of the first of {} loaders"
_FIRST_DIMENSION: Final = "the first dimension of what {} is given"


class Counted(NamedTuple):
    """Samples of each step, and what they are where that is not plain."""

    samples: Ints
    what: str | None = None


def samples_by_step(
    process: ProcessData,
    spans: Spans,
    thread: int,
    steps: tuple[Ints, Ints],
    begins: Indices = ONE_TRAINING,
) -> Counted:
    """As the framework reports; else from the batches that were fetched, or from each step's first
    forward. `spans`: of the thread, or of those that it hands its steps to; `steps`: their starts
    and ends."""
    start_ns, end_ns = steps
    marks = process.step_marks.on(thread)
    marks = marks[marks.who == StepMark.FRAMEWORK]
    if len(marks) == len(start_ns) and marks.samples.any():
        return Counted(marks.by_start().samples)
    batches, loaders = _of_first_loader(_trained_on(spans), start_ns, end_ns)
    fetched = _summed(batches, start_ns, end_ns)
    if fetched.any():
        return Counted(fetched, _ONE_OF.format(loaders) if loaders > 1 else None)
    computed, what = _computed_samples(spans, start_ns, end_ns), SpanCategory.COMPUTE
    if not computed.any():
        computed, what = _forward_samples(spans, start_ns, end_ns, begins), SpanCategory.FORWARD
    return Counted(computed, _given_to(process, spans.of(what)) if computed.any() else None)


def _given_to(process: ProcessData, calls: Spans) -> str:
    """The dimension of an array may be the batch or the sequence: say which was taken."""
    name = process.names.spans.get(int(calls.name[0]))
    return _FIRST_DIMENSION.format(name.name if name else "the model")


def _trained_on(spans: Spans) -> Spans:
    """The batches that are followed by a pass with gradients before the next batch comes, and those
    that were fetched together with such a batch."""
    inputs = spans.of(SpanCategory.INPUT).by_start()
    inputs = inputs[inputs.samples > 0]
    with_gradients = (spans.flags & int(ForwardFlag.NO_GRAD)) == 0
    is_pass = spans.are(SpanCategory.FORWARD, SpanCategory.BACKWARD, SpanCategory.COMPUTE)
    is_pass &= ~spans.is_dropped
    trains = is_pass & (with_gradients | ~spans.are(SpanCategory.FORWARD))
    kept = _are_followed(inputs, spans[trains])
    alone = _are_followed(inputs, spans[is_pass])
    for index in range(len(inputs) - 2, -1, -1):
        kept[index] |= not alone[index] and kept[index + 1]
    return inputs[kept]


def _are_followed(inputs: Spans, passes: Spans) -> Mask:
    """By a pass, before the next of them comes."""
    passes_ns = np.sort(passes.start_ns)
    before_next = np.searchsorted(passes_ns, inputs.start_ns)
    followed: Mask = np.append(before_next[1:], len(passes_ns)) > before_next
    return followed


def _of_first_loader(batches: Spans, start_ns: Ints, end_ns: Ints) -> tuple[Spans, int]:
    """Of several loaders in a step, the one that was used first in the run: a script that draws
    noise or unlabelled images beside its images counts those. Also how many loaders a step has."""
    step = step_of(batches.start_ns, start_ns, end_ns)
    batches, step = batches[step >= 0], step[step >= 0]
    if not len(step):
        return batches, 0
    pairs = np.unique(np.stack([step, batches.loader]), axis=1)
    steps, first, loaders = np.unique(pairs[0], return_index=True, return_counts=True)
    kept = batches.loader == pairs[1][first][np.searchsorted(steps, step)]
    return batches[kept], int(np.median(loaders))


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
