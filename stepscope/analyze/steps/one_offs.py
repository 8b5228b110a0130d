"""Compilations that happen once: for the first shapes, for the smaller last batch of an epoch, for
the first evaluation. They are set-up, and say nothing about what a step takes.

Where the second half of the run compiles again and again, or more steps compile than there are
such occasions, that is what its steps are like.
"""

import collections
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import step_of, union
from stepscope.clock import Ints
from stepscope.model.durations import duration
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_AGAIN: Final = 2  # steps with compilations in the second half: one may be the last batch
_FEW: Final = 0.1  # of the steps
# Training and evaluation, whole batches and the last one, and each of these once more, as torch
# does before it compiles for any size. Beyond that, shapes change.
_OCCASIONS: Final = 8
_TIMES: Final = {1: "once", 2: "twice"}
_Mask = npt.NDArray[np.bool_]


def with_one_offs(process: ProcessData, start_ns: Ints, end_ns: Ints, warmup: int) -> _Mask:
    """The steps after the warm-up that compile, if that soon comes to an end."""
    found = np.zeros(len(start_ns), np.bool_)
    step = step_of(_compilations(process).start_ns, start_ns, end_ns)
    later = np.unique(step[step >= warmup])
    middle = warmup + (len(found) - warmup) // 2
    most = min(_OCCASIONS, _FEW * (len(found) - warmup))
    is_again = (later >= middle).sum() >= _AGAIN or len(later) > most
    if not is_again:
        found[later] = True
    return found


def _compilations(process: ProcessData) -> Spans:
    """Those that are not part of another."""
    spans = process.spans.of(SpanCategory.COMPILE).by_start()
    ends = np.maximum.accumulate(np.append(0, spans.end_ns))[:-1]
    return spans[spans.start_ns >= ends]


def one_offs_note(
    process: ProcessData, start_ns: Ints, end_ns: Ints, samples: Ints, one_off: _Mask
) -> str | None:
    """`Compiled twice after the warm-up, 1.20 s in total: once for a smaller batch (step 94), …`;
    None: there are none."""
    spans = _compilations(process)
    step = step_of(spans.start_ns, start_ns, end_ns)
    spans, step = spans[one_off[step] & (step >= 0)], step[one_off[step] & (step >= 0)]
    if not len(spans):
        return None
    evaluations = union(*process.spans.of(SpanCategory.EVALUATION).interval_ns)
    in_evaluation = step_of(spans.start_ns, *evaluations) >= 0
    usual = float(np.median(samples))
    reasons = [
        _reason(int(number), is_evaluation, 0 < samples[number] < usual)
        for number, is_evaluation in zip(step.tolist(), in_evaluation.tolist(), strict=True)
    ]
    whys = [f"{_times(count)} {why}" for why, count in collections.Counter(reasons).items()]
    total = duration(float((spans.end_ns - spans.start_ns).sum()))
    return (
        f"Compiled {_times(len(spans))} after the warm-up, {total} in total: {', '.join(whys)}. "
        "These steps are not measured."
    )


def _reason(step: int, is_evaluation: bool, is_smaller: bool) -> str:
    if is_evaluation:
        return f"for an evaluation (before step {step + 1})"
    return f"for a smaller batch (step {step + 1})" if is_smaller else f"in step {step + 1}"


def _times(count: int) -> str:
    return _TIMES.get(count, f"{count} times")
