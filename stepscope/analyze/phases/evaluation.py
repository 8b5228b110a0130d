"""Which forward passes without gradients are evaluation, and how far each evaluation reaches.

They are, with the wait for their batches and all that lies between them, unless

1. nothing was trained before them: a model is built, counted or tried out with one batch. If they
   take several batches, an untrained model is evaluated.
2. most steps have them: a frozen teacher, a GAN's samples, a policy that acts. Of those, only
   passes of a trained model count that come after the update, in the same turn of the loop.
3. they make the data of the updates that follow: a rollout, self-play, new pseudo-labels. Such
   passes come once in each turn of a loop around the step loop, before the steps of that turn.
   Validation comes after them. What an evaluation does every N steps lies inside a turn of the step
   loop itself.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.analyze.phases.collecting import makes_data, step_loops
from stepscope.analyze.phases.span_table import (
    INTERRUPTIONS,
    OF_FRAMEWORKS,
    Mask,
    Spans,
    inside,
    inside_any,
    without_gradients,
)
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.jitted_functions import may_evaluate
from stepscope.clock import Ints
from stepscope.store.format import SpanCategory

# Reported apart from evaluation: it happens there but is not evaluation's fault.
_STAY: Final = (*INTERRUPTIONS, SpanCategory.COMPILE, SpanCategory.CHECKPOINT)
_SEVERAL: Final = 2  # batches: a model is tried out with one
_NEVER: Final = np.iinfo(np.int64).max


def with_evaluation(spans: Spans, steps: FoundSteps) -> Spans:
    """What a framework reports as evaluation, from start to end; elsewhere, from the passes."""
    reported = spans.of(SpanCategory.EVALUATION)
    evaluating = _evaluating(spans, steps) & ~inside_any(spans, reported)
    if not evaluating.any() and not reported.any():
        return spans
    start_ns, end_ns = _stretches(spans, evaluating)
    start_ns, end_ns = intervals.union(
        np.concatenate([start_ns, spans.start_ns[reported]]),
        np.concatenate([end_ns, spans.end_ns[reported]]),
    )
    covered = inside(spans, start_ns, end_ns) & ~spans.of(*_STAY)
    return spans.only(~covered).plus(start_ns, end_ns, SpanCategory.EVALUATION)


def _evaluating(spans: Spans, steps: FoundSteps) -> Mask:
    """Passes without gradients that no training needs; and compiled functions that do not train,
    once there are steps."""
    candidates = without_gradients(spans)
    compiled = may_evaluate(spans.of(SpanCategory.COMPUTE), spans.name, spans.number)
    candidates |= compiled & (spans.start_ns > steps.start_ns.min(initial=_NEVER))
    trains = spans.of(*OF_FRAMEWORKS) & ~candidates & ~compiled
    passes, candidates = candidates, candidates & ~_tries_out(spans, candidates, trains)
    step = intervals.step_of(spans.start_ns, steps.start_ns, steps.end_ns)
    for name in np.unique(spans.name[candidates]):
        of_name = candidates & (spans.name == name)
        with_such = len(np.unique(step[of_name & (step >= 0)]))
        if len(steps) and 2 * with_such > len(steps):
            candidates &= ~of_name | _after_update(spans, steps, of_name)
        else:
            candidates &= ~makes_data(spans, steps, passes & (spans.name == name), trains)
    return candidates


def _tries_out(spans: Spans, passes: Mask, trains: Mask) -> Mask:
    """Passes before the first training, unless they take several batches."""
    if not trains.any():
        return np.zeros(len(spans), np.bool_)
    early = passes & (np.arange(len(spans)) < np.argmax(trains))
    if not early.any():
        return early
    first, last = np.flatnonzero(early)[[0, -1]]
    batches = spans.of(SpanCategory.INPUT)[first:last] & (spans.samples[first:last] > 0)
    is_one = int(batches.sum()) < _SEVERAL - 1  # the first was taken before the first pass
    return early if is_one else np.zeros(len(spans), np.bool_)


def _after_update(spans: Spans, steps: FoundSteps, passes: Mask) -> Mask:
    """Which of these passes of a trained model come after the optimizer's step, in the same turn,
    and before the batch or turn that begins the next step: no training needs them any more."""
    trains = spans.of(*OF_FRAMEWORKS) & ~without_gradients(spans)
    names = np.unique(spans.name[passes])
    is_trained = bool((trains & spans.of(SpanCategory.FORWARD) & np.isin(spans.name, names)).any())
    at = np.flatnonzero(trains)
    if not is_trained:
        return np.zeros(len(spans), np.bool_)
    after = np.searchsorted(at, np.arange(len(spans)))  # the training that follows, in `at`
    before = at[np.maximum(after - 1, 0)]
    updated = (after > 0) & spans.of(SpanCategory.OPTIMIZER)[before]
    updated &= spans.end_ns[before] <= spans.start_ns  # not from inside it: a closure
    following_ns = np.append(spans.start_ns[at], _NEVER)[after]
    batches_ns = spans.start_ns[spans.of(SpanCategory.INPUT)]
    begins = np.sort(np.concatenate([steps.header_ns, batches_ns]))
    next_begin = np.append(begins, _NEVER)[np.searchsorted(begins, spans.end_ns)]
    turns = np.sort(np.concatenate([*(loop.start_ns for loop in step_loops(steps)), begins[:0]]))
    turned = np.searchsorted(turns, spans.start_ns) > np.searchsorted(turns, spans.end_ns[before])
    found: Mask = passes & updated & ~turned & (next_begin <= following_ns)
    return found


def _stretches(spans: Spans, evaluating: Mask) -> tuple[Ints, Ints]:
    """From the input of the first such pass to the end of the last, including the request for one
    more batch that ends a loop. Training in between cuts them."""
    training = spans.of(*OF_FRAMEWORKS) & ~evaluating
    training &= ~(spans.of(SpanCategory.OPTIMIZER) & inside_any(spans, evaluating))
    cuts = np.cumsum(training)
    starts, ends = [], []
    for cut in np.unique(cuts[evaluating]):
        members = np.flatnonzero(evaluating & (cuts == cut))
        group = np.flatnonzero(cuts == cut)
        first = _input_before(spans, group, int(members[0]))
        last = _input_after(spans, group, int(members[-1]))
        starts.append(int(spans.start_ns[first]))
        ends.append(int(spans.end_ns[last]))
    return np.array(starts, np.int64), np.array(ends, np.int64)


def _input_before(spans: Spans, group: npt.NDArray[np.intp], index: int) -> int:
    before = group[(group < index) & spans.of(SpanCategory.INPUT)[group]]
    return int(before[-1]) if len(before) else index


def _input_after(spans: Spans, group: npt.NDArray[np.intp], index: int) -> int:
    """A loader that ran out shows as a wait that brings no batch."""
    after = group[(group > index) & spans.of(SpanCategory.INPUT)[group]]
    return int(after[0]) if len(after) and spans.samples[after[0]] == 0 else index
