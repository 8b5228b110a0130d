"""The spans of one thread as columns, and the questions that are asked about where they lie."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze import intervals
from stepscope.clock import Ints
from stepscope.store.format import BackwardFlag, ForwardFlag, SpanCategory

Mask = npt.NDArray[np.bool_]
NO_BATCH_YET: Final = -1  # the samples of an input span in which a loader starts over
# They show that a framework trains here.
OF_FRAMEWORKS: Final = (
    SpanCategory.FORWARD,
    SpanCategory.BACKWARD,
    SpanCategory.OPTIMIZER,
    SpanCategory.COMPUTE,
)
INTERRUPTIONS: Final = (SpanCategory.GC, SpanCategory.PROFILER)  # they may come anywhere


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

    def of(self, *categories: SpanCategory) -> Mask:
        return np.isin(self.category, categories)

    def with_forward(self) -> Mask:
        """The backward spans that include the forward pass."""
        flagged = (self.flags & int(BackwardFlag.WITH_FORWARD)) != 0
        mask: Mask = self.of(SpanCategory.BACKWARD) & flagged
        return mask

    def only(self, kept: Mask) -> "Spans":
        return Spans(*(column[kept] for column in self._columns))

    def plus(self, start_ns: Ints, end_ns: Ints, category: int) -> "Spans":
        none = np.zeros(len(start_ns), np.int64)
        more = [start_ns, end_ns, none + int(category)]
        more += [none] * (len(self._columns) - len(more))
        return sorted_spans(
            *(np.concatenate(each) for each in zip(self._columns, more, strict=True))
        )

    @property
    def _columns(self) -> list[Ints]:
        return [getattr(self, field.name) for field in dataclasses.fields(self)]


def sorted_spans(start: Ints, end: Ints, *columns: npt.NDArray[np.int64]) -> Spans:
    """Without empty ones: they own no time."""
    kept = end > start
    order = np.lexsort((-end[kept], start[kept]))
    return Spans(start[kept][order], end[kept][order], *(column[kept][order] for column in columns))


def inside(spans: Spans, start_ns: Ints, end_ns: Ints) -> Mask:
    """Which spans begin inside one of these intervals."""
    starts, ends = intervals.union(start_ns, end_ns)
    return intervals.step_of(spans.start_ns, starts, ends) >= 0


def inside_any(spans: Spans, outer: Mask) -> Mask:
    """Which spans begin inside one of these others; those themselves included."""
    return inside(spans, spans.start_ns[outer], spans.end_ns[outer])


def owner_at(spans: Spans, at_ns: Ints) -> npt.NDArray[np.int64]:
    """The category of the innermost span at each moment, 0 in none."""
    if not len(spans):
        return np.zeros(len(at_ns), np.int64)
    nested = intervals.Intervals.sorted(spans.start_ns, spans.end_ns, spans.category)
    around = intervals.parents(nested)
    index = np.searchsorted(nested.start_ns, at_ns, side="right") - 1
    for _ in range(64):  # spans nest a few levels deep; damaged ones must not loop forever
        past = (index >= 0) & (nested.end_ns[np.maximum(index, 0)] <= at_ns)
        if not past.any():
            break
        index = np.where(past, around[np.maximum(index, 0)], index)
    found: npt.NDArray[np.int64] = np.where(index >= 0, nested.label[np.maximum(index, 0)], 0)
    return found


def without_gradients(spans: Spans) -> Mask:
    """The forward passes that nothing can be trained with."""
    no_grad: Mask = (spans.flags & int(ForwardFlag.NO_GRAD)) != 0
    return spans.of(SpanCategory.FORWARD) & no_grad
