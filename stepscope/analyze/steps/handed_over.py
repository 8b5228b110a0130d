"""Steps whose passes run in other threads: a loop hands them to a pool (ThreadPoolExecutor,
asyncio.to_thread, joblib's threads) and waits until they are done.

1. A turn of that loop is a step: no thread of the pool trains in a loop of its own, and most turns
   have the same number of updates, which lie in one turn each. A loop that only looks now and then
   whether trainings are over has any number, and cuts some in two.
2. A step's time is that of the loop's own thread; from the first to the last pass of the thread of
   the pool that trains longest in it, that thread's.
"""

import dataclasses
from collections.abc import Sequence
from typing import Final, Self

import numpy as np

from stepscope.analyze.intervals import Indices, step_of
from stepscope.analyze.steps.loops import Loop, Mask
from stepscope.clock import Ints
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_LEAST_TURNS: Final = 10
_MOST_OWN: Final = 0.1  # of the updates: the loop's own thread may train one of the networks itself
_NEARLY_ALL: Final = 0.9
_MOST: Final = 0.5
_PASSES: Final = (
    SpanCategory.FORWARD,
    SpanCategory.BACKWARD,
    SpanCategory.OPTIMIZER,
    SpanCategory.COMPUTE,
)


@dataclasses.dataclass(frozen=True, eq=False)
class Handed:
    """When another thread has the step, in order of time; they do not overlap."""

    start_ns: Ints
    end_ns: Ints
    thread: Ints

    @classmethod
    def none(cls) -> Self:
        return cls(*(np.zeros(0, np.int64) for _ in range(3)))

    def thread_at(self, at_ns: Ints, own: int) -> Ints:
        """`own`: the thread that the steps are on."""
        index = step_of(at_ns, self.start_ns, self.end_ns)
        if not len(self.thread):
            return np.full(len(at_ns), own, np.int64)
        return np.where(index >= 0, self.thread[np.maximum(index, 0)], own)

    def of(self, spans: Spans, own: int) -> Spans:
        """Those of the thread that has the step when they begin. What lasts until another one has
        it is waiting for that one."""
        if not len(self.thread):
            return spans.on(own)
        start_ns, end_ns = spans.interval_ns
        passed = (np.searchsorted(self.start_ns, at_ns) for at_ns in (start_ns, end_ns))
        begun, ended = passed
        lies_around = (step_of(start_ns, self.start_ns, self.end_ns) < 0) & (begun != ended)
        return spans[(spans.thread == self.thread_at(start_ns, own)) & ~lies_around]


def handing_loop(process: ProcessData, loops: Sequence[Loop]) -> Loop | None:
    """The innermost loop that hands its passes to others, if a script has one."""
    updates = _updates(process)
    if len(updates) < _LEAST_TURNS or _have_own_loops(updates, loops):
        return None
    found = [loop for loop in loops if _hands_over(loop, updates)]
    return min(found, key=lambda loop: loop.total_ns, default=None)


def handed(process: ProcessData, own: int, start_ns: Ints, end_ns: Ints) -> Handed:
    """In each step that lasts from `start_ns` to `end_ns`."""
    passes = process.spans.of(*_PASSES)
    passes = passes[passes.is_done & (passes.thread != own)]
    step = step_of(passes.start_ns, start_ns, end_ns)
    passes, step = passes[step >= 0], step[step >= 0]
    if not len(step):
        return Handed.none()
    pairs, index = np.unique(np.stack([step, passes.thread]), axis=1, return_inverse=True)
    first = np.full(pairs.shape[1], np.iinfo(np.int64).max)
    last, spent = np.zeros(pairs.shape[1], np.int64), np.zeros(pairs.shape[1], np.int64)
    np.minimum.at(first, index.reshape(-1), passes.start_ns)
    np.maximum.at(last, index.reshape(-1), passes.end_ns)
    np.add.at(spent, index.reshape(-1), passes.end_ns - passes.start_ns)
    order = np.lexsort((spent, pairs[0]))
    longest = order[np.append(np.diff(pairs[0][order]) > 0, True)]
    return Handed(first[longest], np.minimum(last[longest], end_ns[pairs[0][longest]]),
                  pairs[1][longest].astype(np.int64))  # fmt: skip


def _updates(process: ProcessData) -> Spans:
    """What each network does once in a step."""
    spans = process.spans[process.spans.is_done]
    kinds = (
        spans[spans.are(SpanCategory.OPTIMIZER) & (spans.number > 0)],
        spans.of(SpanCategory.BACKWARD),
        spans[spans.are(SpanCategory.COMPUTE) & (spans.number > 0)],
    )
    return next((each.by_start() for each in kinds if len(each)), spans[:0])


def _have_own_loops(updates: Spans, loops: Sequence[Loop]) -> bool:
    """Whether most of the threads' updates are made in turns of their own loops."""
    inside = 0
    for thread in np.unique(updates.thread).tolist():
        mine = updates.on(thread)
        own = (loop for loop in loops if loop.thread == thread)
        inside += max((_in_turns(loop, mine) for loop in own), default=0)
    return inside > _MOST * len(updates)


def _in_turns(loop: Loop, updates: Spans) -> int:
    return int((_turns_of(loop, updates.end_ns) >= 0).sum())


def _hands_over(loop: Loop, updates: Spans) -> bool:
    if _share(updates.thread == loop.thread) > _MOST_OWN:
        return False
    began, ended = (_turns_of(loop, at_ns) for at_ns in (updates.start_ns, updates.end_ns))
    is_whole = (began == ended) & (ended >= 0)
    _, counts = np.unique(ended[is_whole], return_counts=True)
    if len(counts) < max(_LEAST_TURNS, _NEARLY_ALL * len(loop.turn_starts)):
        return False
    is_even = _share(counts == np.median(counts)) >= _NEARLY_ALL
    return is_even and _share(is_whole) >= _NEARLY_ALL


def _turns_of(loop: Loop, at_ns: Ints) -> Indices:
    order = np.argsort(loop.start_ns, kind="stable")
    turns: Indices = step_of(at_ns, loop.start_ns[order], loop.end_ns[order])
    return turns


def _share(mask: Mask) -> float:
    return float(mask.mean()) if len(mask) else 0.0
