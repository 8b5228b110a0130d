"""Whether the steps wait for their batches, where the time to load one goes, and what limits it."""

import dataclasses
from typing import Final

import msgspec
import numpy as np

from stepscope.analyze.input import limits
from stepscope.analyze.input.cores import cores_of, idle_cores
from stepscope.analyze.input.limits import Facts
from stepscope.analyze.input.loaders import (
    Loader,
    Pairs,
    StageTime,
    find_loader,
    lives_ns,
    stage_times,
    stage_union,
)
from stepscope.analyze.input.loading_code import Loading, library_functions, loading, loading_lines
from stepscope.analyze.input.own_generator import generator_of_run
from stepscope.analyze.input.ready_batches import hand_over
from stepscope.analyze.input.tf_data import pipeline_of_run, pipeline_of_trace
from stepscope.analyze.intervals import overlap_ns, union
from stepscope.analyze.phases.framework_spans import phase_spans
from stepscope.analyze.phases.typical_steps import typical_ns
from stepscope.analyze.run import all_notes, select
from stepscope.analyze.steps.find_steps import FoundSteps, find_steps
from stepscope.clock import Ints
from stepscope.model import InputAnswer, InputLine, LoaderRow, Process, StageRow
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData, Run

_LOADING: Final = ("fetch", "collate", "wait for work")  # one after the other, on a worker's thread
_BESIDE: Final = ("send",)  # on another one
_IN_TRAINING: Final = ("fetch", "collate", "get", "pin memory", "start workers")
_PINNING: Final = ("get", "pin memory")  # in a thread of the training process, where it has one
_LEAST_WAIT_NS: Final = 1_000_000
_LEAST_WAIT: Final = 0.01  # of the mean step
_NO_LOADER: Final = (
    "No loader was used: nothing took a batch from a torch DataLoader or a tf.data pipeline, and "
    "the loop that trains has no generator that takes real time. "
    "See 'stepscope show {run} steps' for what the steps do instead."
)
_NO_PROCESS: Final = "Nothing was recorded."


def input(run: Run, process: int | None = None, rank: int | None = None) -> InputAnswer:
    """Of the main process, or of the one asked for by pid or rank, with its workers."""
    chosen = select(run, process, rank)
    if chosen is None:
        return _nothing(run, _NO_PROCESS)
    if chosen.trace is not None:
        return pipeline_of_trace(run, chosen)
    steps = find_steps(run, chosen)
    loader = find_loader(run, chosen, steps)
    if loader is None:
        pipeline = pipeline_of_run(run, chosen, steps)
        if pipeline is not None:
            return pipeline
        own = generator_of_run(run, chosen, steps)
        if own is not None:
            return own
        return _nothing(run, _NO_LOADER.format(run=run.path))
    return _answer(run, chosen, steps, loader)


def _nothing(run: Run, reason: str) -> InputAnswer:
    return InputAnswer(
        loader=None, limit=None, why=None, stages=[], lines=[], library=[], start_up_ms=None,
        reason=reason, notes=all_notes(run),
    )  # fmt: skip


def _answer(run: Run, process: ProcessData, steps: FoundSteps, loader: Loader) -> InputAnswer:
    window, wait_ns = _waits_by_step(process, steps, loader)
    row = _loader_row(process, loader, window, wait_ns, _typical_ns(process, steps, wait_ns))
    stages = _stages(process, loader, window)
    loads_in = loader.processes if loader.workers else [process]
    code = loading(loads_in, in_workers=bool(loader.workers))
    lines = _in_steps(loading_lines(run, code), stages)
    found = _Found(process, loader, window, row, stages, code, lines)
    slow_ms = max(0.0, float(wait_ns.mean()) / 1e6 - row.wait_ms)
    ready_ms = hand_over(run, process, steps).step_ns / 1e6 if loader.workers else 0.0
    facts = _facts(run, found, slow_ms=slow_ms, ready_ms=ready_ms)
    limit, why = limits.limit(facts)
    return InputAnswer(
        loader=row,
        limit=limit,
        why=why,
        stages=stages,
        lines=lines,
        library=library_functions(run, code),
        start_up_ms=facts.start_up_ms,
        busy=facts.busy,
        cores=facts.cores,
        idle_cores=facts.idle_cores,
        notes=all_notes(run),
        limited_by=limits.LIMIT_WORDS[limit],
    )


# --- the waits ------------------------------------------------------------------------------------


def _waits_by_step(process: ProcessData, steps: FoundSteps, loader: Loader) -> tuple[Pairs, Ints]:
    """The measured steps (all of them if none is) and each one's wait, including the garbage
    collections in it. Without steps, from batch to batch."""
    if not len(steps):
        first, last = loader.waits
        bounds = np.append(first, last[-1:])
        return (bounds[:-1], bounds[1:]), last - first
    kept = steps.is_measured if steps.is_measured.any() else np.ones(len(steps), np.bool_)
    spans = phase_spans(process, steps)
    waits = spans.only(spans.of(SpanCategory.INPUT))
    window = steps.start_ns[kept], steps.end_ns[kept]
    return window, overlap_ns(*window, union(waits.start_ns, waits.end_ns))


def _typical_ns(process: ProcessData, steps: FoundSteps, wait_ns: Ints) -> Ints:
    """The wait as the breakdown has it; all of it if there is none."""
    return typical_ns(process, steps, "input") if steps.is_measured.any() else wait_ns


def _loader_row(
    process: ProcessData, loader: Loader, window: Pairs, wait_ns: Ints, usual_ns: Ints
) -> LoaderRow:
    """`usual_ns`: without what slow steps wait above the others. Taking a batch that is already
    there does not count as a step that waited."""
    duration_ns = window[1] - window[0]
    taken_ns = overlap_ns(*window, stage_union([process], "get", loader.thread))
    least_ns = max(_LEAST_WAIT_NS, _LEAST_WAIT * float(duration_ns.mean()))
    sizes = loader.samples[loader.samples > 0]
    return LoaderRow(
        workers=loader.workers,
        batch_size=int(np.median(sizes)) if len(sizes) else None,
        wait_ms=float(usual_ns.mean()) / 1e6,
        share=float(usual_ns.sum() / max(1, duration_ns.sum())),
        steps_that_waited=int((wait_ns - taken_ns > least_ns).sum()),
        steps=len(wait_ns),
        longest_ms=float(wait_ns.max()) / 1e6,
    )


# --- stages ---------------------------------------------------------------------------------------


def _stages(process: ProcessData, loader: Loader, window: Pairs) -> list[StageRow]:
    """Of the workers, then of the training process; if they loaded nothing meanwhile (all of it
    was ahead of the steps), of all the time that the loader was in use."""
    if not _batches_in(loader, process, window):
        begins = np.concatenate([loader.starts[0], loader.waits[0]]).min()
        window = np.array([begins]), loader.waits[1].max(keepdims=True)
    batches = _batches_in(loader, process, window) or 1.0
    rows: list[StageRow] = []
    if loader.processes:
        whole_ns = lives_ns(loader.processes, window)
        who = loader.processes[0].process
        for stages in (_LOADING, _BESIDE):
            times = stage_times(loader.processes, window, stages)
            rows += _rows(times, who, batches, whole_ns)
    whole_ns = int((window[1] - window[0]).sum())
    # What another loader does on the same thread is outside this one's waits.
    waits = limits.waits_in(loader, window)
    rows += _rows(stage_times([process], waits, _IN_TRAINING), process.process, batches, whole_ns)
    beside = stage_times([process], window, _PINNING, but_thread=loader.thread)
    return rows + _rows(beside, process.process, batches, whole_ns)


def _batches_in(loader: Loader, process: ProcessData, window: Pairs) -> float:
    if loader.processes:
        return stage_times(loader.processes, window, ("fetch",))["fetch"].count
    waits = limits.waits_in(loader, window)
    return stage_times([process], waits, ("fetch",))["fetch"].count


def _rows(
    times: dict[str, StageTime], who: Process, batches: float, whole_ns: int
) -> list[StageRow]:
    return [
        StageRow(
            process=who,
            stage=stage,
            ms_per_batch=time.total_ns / batches / 1e6,
            share=time.total_ns / max(1, whole_ns),
        )
        for stage, time in times.items()
        if time.total_ns
    ]


def _in_steps(lines: list[InputLine], stages: list[StageRow]) -> list[InputLine]:
    """Lines are counted over the whole run, where the first batches may take longest: of a batch in
    the measured steps each has the same share."""
    loads_ms = sum(row.ms_per_batch for row in stages if row.stage in ("fetch", "collate"))
    if not loads_ms:
        return lines
    return [msgspec.structs.replace(line, ms_per_batch=line.share * loads_ms) for line in lines]


def _busy(stages: list[StageRow]) -> float | None:
    """Of the workers: the share of loading in loading plus waiting for work."""
    share = {row.stage: row.share for row in stages if row.process.role == "worker"}
    loads = share.get("fetch", 0.0) + share.get("collate", 0.0)
    whole = loads + share.get("wait for work", 0.0)
    return loads / whole if whole else None


# --- what limits it -------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class _Found:
    """A loader, the steps that wait for it, and what is known about loading."""

    process: ProcessData
    loader: Loader
    window: Pairs
    row: LoaderRow
    stages: list[StageRow]
    code: Loading
    lines: list[InputLine]


def _facts(run: Run, found: _Found, *, slow_ms: float, ready_ms: float) -> Facts:
    process, loader, window, stages = found.process, found.loader, found.window, found.stages
    waits = limits.waits_in(loader, window)
    start_share, transfer_share = limits.shares_of_wait(process, loader, waits)
    return Facts(
        workers=found.row.workers,
        wait_ms=found.row.wait_ms,
        slow_ms=slow_ms,
        ready_ms=ready_ms,
        step_ms=float((window[1] - window[0]).mean()) / 1e6,
        load_ms=found.code.ns / max(1, found.code.batches) / 1e6,
        cores=cores_of(run),
        idle_cores=idle_cores(run, process, window),
        starts=len(loader.processes) // loader.workers if loader.workers else 0,
        start_up_ms=limits.start_up_ms(loader),
        start_share=start_share,
        transfer_share=transfer_share,
        get_ms=sum(each.ms_per_batch for each in stages if each.stage == "get"),
        hottest=found.lines[0] if found.lines else None,
        busy=_busy(stages),
        fetching=_fetching(process, loader, waits),
    )


def _fetching(process: ProcessData, loader: Loader, waits: Pairs) -> float:
    """Of these waits; all of them where it is not known."""
    times = stage_times([process], waits, ("fetch", "collate"))
    if loader.workers or not times["fetch"].count:
        return 1.0
    return sum(each.total_ns for each in times.values()) / max(1, int((waits[1] - waits[0]).sum()))
