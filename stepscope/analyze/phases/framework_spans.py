"""The spans that a framework's hooks recorded, as the phases that people know.

1. A module's call inside backward is part of it (activation checkpointing).
2. Forward passes without gradients are evaluation, with the wait for their batches and all that
   lies between them. If most steps have them (a frozen teacher, a GAN's samples), only those of a
   trained model count that lie between the update and the next batch or turn of the loop.
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

import dataclasses
import functools
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.jitted_functions import may_evaluate
from stepscope.clock import Ints
from stepscope.store.format import BackwardFlag, ForwardFlag, SpanCategory
from stepscope.store.reader import ProcessData

_NOT_PHASES: Final = (
    SpanCategory.REGION,
    SpanCategory.IMPORT,
    SpanCategory.STAGE,
    SpanCategory.ACTION,
)
PHASES: Final = tuple(category for category in SpanCategory if category not in _NOT_PHASES)
# They show that a framework trains here.
_OF_FRAMEWORKS: Final = (
    SpanCategory.FORWARD,
    SpanCategory.BACKWARD,
    SpanCategory.OPTIMIZER,
    SpanCategory.COMPUTE,
)
# They may come anywhere.
_INTERRUPTIONS: Final = (SpanCategory.GC, SpanCategory.PROFILER)
# Reported apart from evaluation: it happens there but is not evaluation's fault.
_STAY_IN_EVALUATION: Final = (*_INTERRUPTIONS, SpanCategory.COMPILE, SpanCategory.CHECKPOINT)
# What may lie between forward and backward without being a phase of its own.
_BETWEEN: Final = (*_INTERRUPTIONS, SpanCategory.OPTIMIZER, SpanCategory.COMMUNICATION)
# What preparation begins or ends with.
_PASSES: Final = (
    SpanCategory.INPUT,
    SpanCategory.TRANSFER,
    SpanCategory.FORWARD,
    SpanCategory.BACKWARD,
    SpanCategory.COMPUTE,
    SpanCategory.EVALUATION,
)
_NO_BATCH_YET: Final = -1
_Mask = npt.NDArray[np.bool_]


@dataclasses.dataclass(frozen=True, eq=False)
class Spans:
    """Spans of one thread by start; what begins together, longest first."""

    start_ns: Ints
    end_ns: Ints
    category: npt.NDArray[np.int64]
    name: npt.NDArray[np.int64]
    samples: npt.NDArray[np.int64]
    number: npt.NDArray[np.int64]
    flags: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start_ns)

    def of(self, *categories: SpanCategory) -> _Mask:
        return np.isin(self.category, categories)

    def with_forward(self) -> _Mask:
        """The backward spans that include the forward pass."""
        flagged = (self.flags & int(BackwardFlag.WITH_FORWARD)) != 0
        mask: _Mask = self.of(SpanCategory.BACKWARD) & flagged
        return mask

    def only(self, kept: npt.NDArray[np.bool_]) -> "Spans":
        return Spans(*(column[kept] for column in self._columns))

    def plus(self, start_ns: Ints, end_ns: Ints, category: SpanCategory) -> "Spans":
        none = np.zeros(len(start_ns), np.int64)
        more = [start_ns, end_ns, none + int(category)]
        more += [none] * (len(self._columns) - len(more))
        return _sorted(*(np.concatenate(each) for each in zip(self._columns, more, strict=True)))

    @property
    def _columns(self) -> list[Ints]:
        return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _sorted(start: Ints, end: Ints, *columns: npt.NDArray[np.int64]) -> Spans:
    kept = end > start
    order = np.lexsort((-end[kept], start[kept]))
    return Spans(start[kept][order], end[kept][order], *(column[kept][order] for column in columns))


def is_trained_by_framework(process: ProcessData) -> bool:
    return bool(process.spans.are(*_OF_FRAMEWORKS).any())


@functools.lru_cache(maxsize=64)
def phase_spans(process: ProcessData, steps: FoundSteps) -> Spans:
    """The phases on the steps' thread."""
    spans = _recorded(process, steps.thread if len(steps) else process.main_thread)
    if not spans.of(*_OF_FRAMEWORKS).any():
        return spans
    spans = _without_recomputation(spans)
    spans = _with_evaluation(spans, steps)
    spans = _with_loss(spans, steps)
    spans = _with_update(spans, steps)
    return _with_preparation(spans, steps)


def _recorded(process: ProcessData, thread: int) -> Spans:
    spans = process.spans.of(*PHASES).on(thread)
    is_start = np.isin(spans.name, _names_of_starts(process))
    samples = np.where(is_start, _NO_BATCH_YET, spans.samples)
    return _sorted(
        *spans.interval_ns, spans.category.astype(np.int64), spans.name.astype(np.int64),
        samples, spans.number, spans.flags, spans.group,
    )  # fmt: skip


def _names_of_starts(process: ProcessData) -> list[int]:
    """Names of the spans in which a loader starts over."""
    return [span.id for span in process.names.spans.values() if span.name.endswith(".__iter__")]


def _inside(spans: Spans, start_ns: Ints, end_ns: Ints) -> _Mask:
    """Which spans begin inside one of these intervals."""
    starts, ends = intervals.union(start_ns, end_ns)
    return intervals.step_of(spans.start_ns, starts, ends) >= 0


def _without_recomputation(spans: Spans) -> Spans:
    backward = spans.of(SpanCategory.BACKWARD)
    again = spans.of(SpanCategory.FORWARD) & _inside(
        spans, spans.start_ns[backward], spans.end_ns[backward]
    )
    return spans.only(~again)


# --- evaluation -----------------------------------------------------------------------------------


def _with_evaluation(spans: Spans, steps: FoundSteps) -> Spans:
    """What a framework reports as evaluation, from start to end; elsewhere, from the passes."""
    reported = spans.of(SpanCategory.EVALUATION)
    evaluating = _evaluating(spans, steps) & ~_inside_any(spans, reported)
    if not evaluating.any() and not reported.any():
        return spans
    start_ns, end_ns = _stretches(spans, evaluating)
    start_ns, end_ns = intervals.union(
        np.concatenate([start_ns, spans.start_ns[reported]]),
        np.concatenate([end_ns, spans.end_ns[reported]]),
    )
    covered = _inside(spans, start_ns, end_ns) & ~spans.of(*_STAY_IN_EVALUATION)
    return spans.only(~covered).plus(start_ns, end_ns, SpanCategory.EVALUATION)


def _evaluating(spans: Spans, steps: FoundSteps) -> _Mask:
    """Forward passes without gradients whose module does not make them in most steps, or makes them
    when the step has trained; and compiled functions that do not train, once there are steps."""
    candidates = _is_without_gradients(spans)
    compiled = may_evaluate(spans.of(SpanCategory.COMPUTE), spans.name, spans.number)
    candidates |= compiled & (spans.start_ns > steps.start_ns.min(initial=np.iinfo(np.int64).max))
    step = intervals.step_of(spans.start_ns, steps.start_ns, steps.end_ns)
    for name in np.unique(spans.name[candidates]):
        of_name = candidates & (spans.name == name)
        with_such = len(np.unique(step[of_name & (step >= 0)]))
        if len(steps) and 2 * with_such > len(steps):
            candidates &= ~of_name | _after_update(spans, steps, of_name)
    return candidates


def _after_update(spans: Spans, steps: FoundSteps, passes: _Mask) -> _Mask:
    """Which of these passes of a trained model come after the optimizer's step and before the batch
    or turn that begins the next step: no training needs them any more."""
    trains = spans.of(*_OF_FRAMEWORKS) & ~_is_without_gradients(spans)
    names = np.unique(spans.name[passes])
    is_trained = bool((trains & spans.of(SpanCategory.FORWARD) & np.isin(spans.name, names)).any())
    at = np.flatnonzero(trains)
    if not is_trained:
        return np.zeros(len(spans), np.bool_)
    after = np.searchsorted(at, np.arange(len(spans)))  # the training that follows, in `at`
    before = at[np.maximum(after - 1, 0)]
    updated = (after > 0) & spans.of(SpanCategory.OPTIMIZER)[before]
    updated &= spans.end_ns[before] <= spans.start_ns  # not from inside it: a closure
    following_ns = np.append(spans.start_ns[at], np.iinfo(np.int64).max)[after]
    batches_ns = spans.start_ns[spans.of(SpanCategory.INPUT)]
    begins = np.sort(np.concatenate([steps.turn_ns, batches_ns]))
    next_begin = np.append(begins, np.iinfo(np.int64).max)[np.searchsorted(begins, spans.end_ns)]
    found: _Mask = passes & updated & (next_begin <= following_ns)
    return found


def _is_without_gradients(spans: Spans) -> _Mask:
    no_grad: _Mask = (spans.flags & int(ForwardFlag.NO_GRAD)) != 0
    return spans.of(SpanCategory.FORWARD) & no_grad


def _stretches(spans: Spans, evaluating: _Mask) -> tuple[Ints, Ints]:
    """From the input of the first such pass to the end of the last, including the request for one
    more batch that ends a loop. Training in between cuts them."""
    training = spans.of(*_OF_FRAMEWORKS) & ~evaluating
    training &= ~(spans.of(SpanCategory.OPTIMIZER) & _inside_any(spans, evaluating))
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


def _inside_any(spans: Spans, outer: _Mask) -> _Mask:
    return _inside(spans, spans.start_ns[outer], spans.end_ns[outer])


def _input_before(spans: Spans, group: npt.NDArray[np.intp], index: int) -> int:
    before = group[(group < index) & spans.of(SpanCategory.INPUT)[group]]
    return int(before[-1]) if len(before) else index


def _input_after(spans: Spans, group: npt.NDArray[np.intp], index: int) -> int:
    """A loader that ran out shows as a wait that brings no batch."""
    after = group[(group > index) & spans.of(SpanCategory.INPUT)[group]]
    return int(after[0]) if len(after) and spans.samples[after[0]] == 0 else index


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


def _has_graph(phases: Spans) -> _Mask:
    """Whether this or an earlier forward pass has gradients, with no backward or update since."""
    at = np.arange(len(phases))
    makes = phases.of(SpanCategory.FORWARD) & ~_is_without_gradients(phases)
    uses = phases.of(SpanCategory.BACKWARD, SpanCategory.OPTIMIZER)
    made, used = (np.maximum.accumulate(np.where(each, at, -1)) for each in (makes, uses))
    mask: _Mask = made > used
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
    marks = np.concatenate([steps.start_ns, steps.turn_ns, phases.end_ns])
    begin = _latest_before(marks, end)
    known = begin > 0
    return begin[known], end[known]


def _with_preparation(spans: Spans, steps: FoundSteps) -> Spans:
    optimizer = spans.of(SpanCategory.OPTIMIZER)
    in_optimizer = _inside(spans, spans.start_ns[optimizer], spans.end_ns[optimizer])
    passes = spans.only(spans.of(*_PASSES) & ~in_optimizer)  # LBFGS calls the model itself
    is_pass = passes.of(SpanCategory.FORWARD, SpanCategory.TRANSFER, SpanCategory.COMPUTE)
    is_pass |= passes.with_forward()
    end = passes.start_ns[is_pass]
    # A step's own start counts only if no turn of the loop begins in it.
    turns_ns = np.concatenate([steps.start_ns, steps.turn_ns])
    begin = _latest_before(np.concatenate([passes.end_ns, turns_ns]), end)
    ends_it = ~_is_without_gradients(passes)
    since = _latest_before(np.concatenate([passes.end_ns[ends_it], turns_ns]), end)
    is_batch = passes.of(SpanCategory.INPUT) & (passes.samples != _NO_BATCH_YET)
    from_input = np.isin(since, passes.end_ns[is_batch])
    # Before a compiled function, the framework's own callbacks run there.
    is_known = (len(steps.turn_ns) == 0) & ~passes.of(SpanCategory.COMPUTE)[is_pass]
    from_turn = np.isin(since, steps.turn_ns) | (np.isin(since, steps.start_ns) & is_known)
    kept = from_input | from_turn
    return spans.plus(begin[kept], end[kept], SpanCategory.PREPARE)


def _latest_before(marks_ns: Ints, at_ns: Ints) -> Ints:
    """The last of the marks up to each moment, 0: none."""
    marks = np.sort(marks_ns)
    if not len(marks):
        return np.zeros(len(at_ns), np.int64)
    index = np.searchsorted(marks, at_ns, side="right") - 1
    return np.where(index >= 0, marks[np.maximum(index, 0)], 0)
