"""The loader that a process trains from: its waits, its workers, and what their time goes to."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.intervals import (
    Intervals,
    exclusive_by_step,
    overlap_ns,
    parents,
    step_of,
    union,
)
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.clock import Ints
from stepscope.store.events import Spans
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

_STARTS: Final = ".__iter__"  # how the name of a loader's start ends
Pairs = tuple[Ints, Ints]  # starts and ends; in a union, in order and apart


@dataclasses.dataclass(frozen=True, eq=False)
class Loader:
    workers: int
    thread: int  # the one that takes its batches
    waits: Pairs  # each time it was asked for a batch; there is at least one
    samples: Ints  # of each; 0: no batch came
    starts: Pairs  # each time its iteration started over
    processes: list[ProcessData]  # its workers'


@dataclasses.dataclass(frozen=True)
class StageTime:
    """In a window of time; several processes together."""

    total_ns: int
    count: float  # what lies in it in part counts in part


def find_loader(run: Run, process: ProcessData, steps: FoundSteps) -> Loader | None:
    """The loader that most steps take a batch from; without steps, that with the most batches."""
    spans = loader_spans(process)
    is_start = are_starts(process, spans)
    waits, starts = spans[~is_start], spans[is_start]
    if not len(waits):
        return None
    number = _number_in_most_steps(waits, steps)
    waits, starts = waits[waits.loader == number], starts[starts.loader == number]
    return Loader(
        workers=int(waits.loader_workers[0]),
        thread=int(waits.thread[0]),
        waits=waits.interval_ns,
        samples=waits.samples,
        starts=starts.interval_ns,
        processes=_workers(run, process, number),
    )


def loader_spans(process: ProcessData) -> Spans:
    """In order of time, without those of loaders that feed another one."""
    spans = process.spans.of(SpanCategory.INPUT)
    spans = spans[spans.loader > 0].by_start()
    start, end = spans.interval_ns
    outer = np.zeros(len(spans), np.bool_)
    for thread in np.unique(spans.thread).tolist():
        here = np.flatnonzero(spans.thread == thread)
        found = Intervals.sorted(start[here], np.maximum(end[here], start[here] + 1), here)
        outer[found.label[parents(found) < 0]] = True
    return spans[outer]


def _number_in_most_steps(spans: Spans, steps: FoundSteps) -> int:
    numbers = spans.loader
    step = step_of(spans.start_ns, steps.start_ns, steps.end_ns)

    def use(number: int) -> tuple[int, int]:
        mine = numbers == number
        return len(np.unique(step[mine & (step >= 0)])), int(mine.sum())

    return int(max(np.unique(numbers).tolist(), key=use))


def are_starts(process: ProcessData, spans: Spans) -> npt.NDArray[np.bool_]:
    names = [id for id, name in process.names.spans.items() if name.name.endswith(_STARTS)]
    return np.isin(spans.name, names)


def _workers(run: Run, process: ProcessData, number: int) -> list[ProcessData]:
    """The processes that were started for this loader. A pid may have been used twice: the start
    nearest to a process's own beginning counts."""
    spans = stage_spans(process, "worker")
    found = []
    for other in run.processes:
        if other is process or other.info.host != process.info.host:
            continue
        mine = np.flatnonzero(spans.worker_pid == other.info.pid)
        if not len(mine):
            continue
        nearest = mine[np.argmin(np.abs(spans.start_ns[mine] - other.start_ns))]
        if spans.loader[nearest] == number:
            found.append(other)
    return found


def stage_spans(process: ProcessData, *stages: str) -> Spans:
    spans = process.spans.of(SpanCategory.STAGE)
    ids = [id for id, name in process.names.spans.items() if name.name in stages]
    return spans[np.isin(spans.name, ids)]


def stage_union(processes: list[ProcessData], stage: str, thread: int | None = None) -> Pairs:
    """When any of the processes was in the stage, on any thread or on that one."""
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for process in processes:
        spans = stage_spans(process, stage)
        start, end = (spans if thread is None else spans.on(thread)).interval_ns
        starts.append(start)
        ends.append(end)
    return union(np.concatenate(starts), np.concatenate(ends))


def stage_times(
    processes: list[ProcessData],
    window: Pairs,
    stages: tuple[str, ...],
    *,
    but_thread: int | None = None,
) -> dict[str, StageTime]:
    """Exclusive of each other if they nest. What lies in the window in part is counted in part: it
    is longer than what is seen of it there."""
    totals = dict.fromkeys(stages, 0)
    counts = dict.fromkeys(stages, 0.0)
    for process in processes:
        spans = stage_spans(process, *stages)
        spans = spans[spans.thread != but_thread] if but_thread is not None else spans
        labels = _labels(process, spans, stages)
        start, end = spans.interval_ns
        seen = overlap_ns(start, end, window) / np.maximum(1, end - start)
        by_stage = np.zeros(len(stages), np.int64)
        for thread in np.unique(spans.thread).tolist():
            here = spans.thread == thread
            found = Intervals.sorted(start[here], end[here], labels[here])
            by_stage += exclusive_by_step(found, *window, len(stages)).sum(axis=0)
        for index, stage in enumerate(stages):
            totals[stage] += int(by_stage[index])
            counts[stage] += float(seen[labels == index].sum())
    return {stage: StageTime(totals[stage], counts[stage]) for stage in stages}


def _labels(process: ProcessData, spans: Spans, stages: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """The index of each one's stage."""
    index = {id: stages.index(name.name) for id, name in process.names.spans.items()
             if name.name in stages}  # fmt: skip
    return np.array([index[id] for id in spans.name.tolist()], np.int64)


def lives_ns(processes: list[ProcessData], window: Pairs) -> int:
    """How much of the window the processes existed, summed."""
    starts = np.array([each.start_ns for each in processes], np.int64)
    ends = np.array([each.end_ns for each in processes], np.int64)
    return int(overlap_ns(starts, np.maximum(starts, ends), window).sum())
