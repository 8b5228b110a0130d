"""How many samples each step trains on."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import Indices, step_of
from stepscope.analyze.steps.loops import Mask
from stepscope.analyze.steps.optimizer_runs import ONE_TRAINING
from stepscope.clock import Ints
from stepscope.store.format import EventKind, ForwardFlag, SpanCategory, StepMark
from stepscope.store.reader import ProcessData

_UPDATES: Final = np.uint64(1)  # in value1 of a COMPUTE span; the samples are above it


def samples_by_step(
    process: ProcessData, thread: int, start_ns: Ints, end_ns: Ints, begins: Indices = ONE_TRAINING
) -> Ints:
    """As the framework tells; else from the batches that were fetched, or from the first forward of
    each step."""
    marks = process.of_kind(EventKind.STEP)
    marks = marks[(marks["extra"] == StepMark.FRAMEWORK) & (marks["thread"] == thread)]
    if len(marks) == len(start_ns) and marks["value0"].any():
        told: Ints = np.sort(marks, order="start")["value0"].astype(np.int64)
        return np.clip(told, 0, 2**40)
    spans = process.of_kind(EventKind.SPAN)
    spans = spans[spans["thread"] == thread]
    fetched = _summed(process, _trained_on(spans), start_ns, end_ns)
    if fetched.any():
        return fetched
    computed = _computed_samples(process, spans, start_ns, end_ns)
    if computed.any():
        return computed
    return _forward_samples(process, spans, start_ns, end_ns, begins)


def _trained_on(spans: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The batches that are followed by a pass with gradients before the next batch comes."""
    inputs = np.sort(spans[spans["extra"] == SpanCategory.INPUT], order="start")
    is_forward = (spans["extra"] == SpanCategory.FORWARD) & (
        spans["value1"] & np.uint64(ForwardFlag.NO_GRAD) == 0
    )
    others = np.isin(spans["extra"], (SpanCategory.BACKWARD, SpanCategory.COMPUTE))
    happened = spans["end"] != spans["start"]  # else it came to nothing
    passes = np.sort(spans["start"][(is_forward | others) & happened])
    before_next = np.searchsorted(passes, inputs["start"])
    kept: npt.NDArray[Any] = inputs[np.append(before_next[1:], len(passes)) > before_next]
    return kept


def _summed(process: ProcessData, spans: npt.NDArray[Any], start_ns: Ints, end_ns: Ints) -> Ints:
    total = np.zeros(len(start_ns), np.int64)
    step = step_of(process.clock.ns(spans["start"]), start_ns, end_ns)
    kept = (step >= 0) & (spans["value0"] < 2**40)
    np.add.at(total, step[kept], spans["value0"][kept].astype(np.int64))
    return total


def _computed_samples(
    process: ProcessData, spans: npt.NDArray[Any], start_ns: Ints, end_ns: Ints
) -> Ints:
    """What the first compiled function of each step was given, each time that it was called; once
    where others are called beside it (a discriminator sees a batch, and then what was made)."""
    spans = spans[(spans["extra"] == SpanCategory.COMPUTE) & (spans["value1"] > _UPDATES)]
    step = step_of(process.clock.ns(spans["start"]), start_ns, end_ns)
    spans, step = spans[step >= 0], step[step >= 0]
    total = np.zeros(len(start_ns), np.int64)
    those, first, index = np.unique(step, return_index=True, return_inverse=True)
    is_others: Mask = spans["value0"] != spans["value0"][first][index]
    with_others = np.bincount(index, is_others, len(those)) > 0
    counts = np.where(with_others[index], np.arange(len(spans)) == first[index], ~is_others)
    given = np.minimum(spans["value1"] >> np.uint64(1), 2**40).astype(np.int64)
    np.add.at(total, step[counts], given[counts])
    return total


def _forward_samples(
    process: ProcessData, spans: npt.NDArray[Any], start_ns: Ints, end_ns: Ints, begins: Indices
) -> Ints:
    """Of each training's first module: once, or for each backward where one goes with each of its
    forwards (gradient accumulation, but not an optimizer that asks several times)."""
    is_training = (spans["extra"] == SpanCategory.FORWARD) & (spans["value1"] == 0)
    forwards = spans[is_training & (spans["value0"] > 0)]
    if not len(forwards):
        return np.zeros(len(start_ns), np.int64)
    forwards = _of_first_module(process, forwards, start_ns[begins[1:]])
    backward = spans["extra"] == SpanCategory.BACKWARD
    steps = spans[(spans["extra"] == SpanCategory.OPTIMIZER) & (spans["value0"] > 0)]
    is_asked_again = step_of(forwards["start"], steps["start"], steps["end"]).max() >= 0
    is_alone = len(np.unique(steps["value0"])) <= len(begins)
    if is_alone and not is_asked_again and len(forwards) == backward.sum():
        return _summed(process, forwards, start_ns, end_ns)
    step = step_of(process.clock.ns(forwards["start"]), start_ns, end_ns)
    _, first = np.unique(step, return_index=True)
    return _summed(process, forwards[first], start_ns, end_ns)


def _of_first_module(
    process: ProcessData, forwards: npt.NDArray[Any], begin_ns: Ints
) -> npt.NDArray[Any]:
    """`begin_ns`: of each training but the first."""
    training = np.searchsorted(begin_ns, process.clock.ns(forwards["start"]), side="right")
    _, first, index = np.unique(training, return_index=True, return_inverse=True)
    kept: npt.NDArray[Any] = forwards[forwards["name"] == forwards["name"][first][index]]
    return kept
