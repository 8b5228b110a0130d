"""Whether steps wait for a tf.data pipeline, and where it spends its time."""

import dataclasses
import math
from typing import Final

import msgspec
import numpy as np

from stepscope.analyze.input import tf_data_stages
from stepscope.analyze.input.cores import cores_of, idle_cores
from stepscope.analyze.input.limits import LIMIT_WORDS, at
from stepscope.analyze.input.loader_in_trace import (
    LEAST_WAIT,
    loader_row,
    loading_in_trace,
    no_wait_words,
)
from stepscope.analyze.input.loading_code import (
    NOT_COUNTED,
    generating,
    has_uncounted,
    library_functions,
    loading_lines,
)
from stepscope.analyze.input.waits_in_trace import waits_in_trace
from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.phases.typical_steps import typical_ns
from stepscope.analyze.phases.waiting_in_graphs import ESTIMATED, graph_input
from stepscope.analyze.run import all_notes
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.traces.windows import (
    read_causes,
    read_window,
    steps_begun,
    trace_of,
    windows,
)
from stepscope.clock import Ints
from stepscope.importers.causes import Causes
from stepscope.importers.trace import Trace
from stepscope.model import InputAnswer, InputLine, Limit, LoaderRow, Process, StageRow
from stepscope.model.durations import duration
from stepscope.store.reader import ProcessData, Run

_Seen = tuple[Causes, Trace]
_INPUT: Final = "input"
_SERIAL: Final = ("Map", "Interleave", "FlatMap")  # stages that could run in parallel
_GENERATOR: Final = "Generator"
_SEVERAL: Final = 1.5  # at once
_MOST: Final = 0.5
_PREFETCH: Final = ("Prefetch", "ParallelMap")
_NO_PIPELINE: Final = (
    "No input pipeline: nothing in the trace fetches a batch from a DataLoader or tf.data."
)


@dataclasses.dataclass(frozen=True, eq=False)
class _Waits:
    """By step."""

    wait_ns: Ints
    duration_ns: Ints
    usual_ns: Ints | None = None  # without what slow steps wait above the others, where known
    batch_size: int | None = None
    is_estimated: bool = False


def pipeline_of_run(run: Run, process: ProcessData, steps: FoundSteps) -> InputAnswer | None:
    """None: no window shows a pipeline."""
    seen = _seen(process)
    if not seen or not len(steps):
        return None
    kept = steps.is_measured if steps.is_measured.any() else np.ones(len(steps), np.bool_)
    phases = phases_by_step(process, steps)
    if _INPUT not in phases.names:
        return None
    wait_ns = phases.ns[kept, phases.names.index(_INPUT)]
    samples = steps.samples[steps.samples > 0]
    size = int(np.median(samples)) if len(samples) else None
    usual_ns = typical_ns(process, steps, _INPUT) if steps.is_measured.any() else None
    is_estimated = bool(phases.is_estimated[kept].any())
    waits = _Waits(wait_ns, steps.duration_ns[kept], usual_ns, size, is_estimated)
    answer = _with_reader(run, process, _answer(run, process.process, waits, seen), len(steps))
    window = steps.start_ns[kept], steps.end_ns[kept]
    return msgspec.structs.replace(
        answer, cores=cores_of(run), idle_cores=idle_cores(run, process, window)
    )


def _with_reader(run: Run, process: ProcessData, answer: InputAnswer, steps: int) -> InputAnswer:
    """With the user's own lines, where the pipeline spends its time in a generator of theirs."""
    code = generating(run, process, steps) if is_own_reader(answer) else None
    if code is None:
        return answer
    lines = loading_lines(run, code)
    why = f"{answer.why}{reader_words(lines[0], answer.stages[0]) if lines else ''}"
    return msgspec.structs.replace(
        answer,
        lines=lines,
        library=[] if code.is_unseen else library_functions(run, code),
        why=why if answer.limit == "work" else answer.why,
        notes=[*answer.notes, *([NOT_COUNTED] if has_uncounted(run, code) else [])],
    )


def reader_words(line: InputLine, stage: StageRow) -> str:
    """Its own lines take it, or getting there: the interpreter's lock, and values as tensors."""
    if line.ms_per_batch >= _MOST * stage.ms_per_batch:
        return f", most of it{at(line)}"
    own = duration(1e6 * line.ms_per_batch)
    return (
        f", {own} of it{at(line)}: the rest is mostly TensorFlow calling Python, once for each "
        "element, so yield whole batches"
    )


def is_own_reader(answer: InputAnswer) -> bool:
    return bool(answer.stages) and answer.stages[0].stage.startswith(_GENERATOR)


def avoidable_ns(process: ProcessData, steps: FoundSteps, wait_ns: float) -> float:
    """Of what a step waits: all but taking batches that are ready, and no more than all stages of
    the pipeline do for it, both as in the windows. None of it, if only the windows show the wait
    and it may be chance: if another program has the pipeline's core, some batches come late."""
    taking = [tf_data_stages.taking_ns(causes.host) for causes, _ in _seen(process)]
    if not any(len(waited) for waited, _ in taking):
        return wait_ns  # another operation fetches its batches
    waited, taken = (np.concatenate(each) for each in zip(*taking, strict=True))
    ready_ns = float(np.median(taken))
    begun = max(1, sum(int(steps_begun(each, steps.start_ns).sum()) for each in windows(process)))
    is_estimated = graph_input(process, steps) is not None
    if is_estimated and float(waited.mean()) - ready_ns <= _error(waited):
        return 0.0
    late_ns = max(0.0, wait_ns - ready_ns * len(waited) / begun)
    return min(late_ns, _work_ns(process) / begun)


def _error(values_ns: Ints) -> float:
    """Two standard errors of their mean."""
    return 2 * float(values_ns.std(ddof=1)) / math.sqrt(len(values_ns)) if len(values_ns) > 1 else 0


def _work_ns(process: ProcessData) -> float:
    """What all stages of the pipeline do in the windows."""
    return float(
        sum(
            stage.self_ns
            for causes, _ in _seen(process)
            for stage in tf_data_stages.stages(causes.host)
        )
    )


def pipeline_of_trace(run: Run, process: ProcessData) -> InputAnswer:
    """Of a trace without a recording around it."""
    seen = _seen(process)
    loading = None if seen else loading_in_trace(run, process)
    if loading is not None:
        return loading
    if not seen:
        trace = trace_of(process)
        reason = trace if isinstance(trace, str) else _NO_PIPELINE
        return InputAnswer(
            loader=None, limit=None, why=None, stages=[], lines=[], library=[], start_up_ms=None,
            reason=reason, notes=all_notes(run),
        )  # fmt: skip
    causes, trace = seen[0]
    waits = waits_in_trace(trace, causes)
    found = _answer(run, process.process, _Waits(waits.wait_ns, waits.duration_ns), seen)
    return msgspec.structs.replace(found, notes=[*found.notes, *waits.about_hidden])


def _seen(process: ProcessData) -> list[_Seen]:
    """The traces in which a batch was fetched or a stage ran."""
    found = []
    for window in windows(process):
        causes = read_causes(window.path)
        if causes is None:
            continue
        trace = read_window(window)
        if not isinstance(trace, str) and trace.events["is_input"].any():
            found.append((causes, trace))
    return found


def _answer(run: Run, who: Process, waits: _Waits, seen: list[_Seen]) -> InputAnswer:
    batches = max(1, sum(tf_data_stages.batches(causes.host) for causes, _ in seen))
    rows = _stage_rows(who, seen, batches)
    usual_ns = waits.wait_ns if waits.usual_ns is None else waits.usual_ns
    loader = loader_row(waits.wait_ns, waits.duration_ns, usual_ns, batch_size=waits.batch_size)
    limit, why = _limit(loader, rows)
    notes = [*all_notes(run), *([ESTIMATED] if waits.is_estimated else [])]
    return InputAnswer(
        loader=loader, limit=limit, why=why, stages=rows, lines=[], library=[], start_up_ms=None,
        notes=notes, limited_by=LIMIT_WORDS[limit], operations=_operation_rows(who, seen, batches),
    )  # fmt: skip


def _stage_rows(who: Process, seen: list[_Seen], batches: int) -> list[StageRow]:
    """The stages of several windows together."""
    total: dict[str, list[float]] = {}
    for causes, _ in seen:
        for stage in tf_data_stages.stages(causes.host):
            sums = total.setdefault(stage.name, [0, 0, 0.0])
            sums[0] += stage.calls
            sums[1] += stage.self_ns
            sums[2] = max(sums[2], stage.parallelism)
    whole = max(1.0, sum(sums[1] for sums in total.values()))
    rows = [
        StageRow(process=who, stage=name, ms_per_batch=ns / batches / 1e6, share=ns / whole,
                 calls=int(calls), parallelism=parallelism)
        for name, (calls, ns, parallelism) in total.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row.ms_per_batch)


def _operation_rows(who: Process, seen: list[_Seen], batches: int) -> list[StageRow]:
    total: dict[str, list[int]] = {}
    for _, trace in seen:
        for each in tf_data_stages.operations(trace):
            sums = total.setdefault(each.name, [0, 0])
            sums[0] += each.calls
            sums[1] += each.self_ns
    whole = max(1, sum(ns for _, ns in total.values()))
    rows = [
        StageRow(process=who, stage=name, ms_per_batch=ns / batches / 1e6, share=ns / whole,
                 calls=calls)
        for name, (calls, ns) in total.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row.ms_per_batch)


def _limit(loader: LoaderRow, rows: list[StageRow]) -> tuple[Limit, str]:
    if loader.share < LEAST_WAIT:
        return "nothing", no_wait_words(loader)
    if not rows:
        return "work", "the pipeline is slower than the steps"
    slowest = rows[0]
    each = duration(1e6 * slowest.ms_per_batch)
    why = f"{slowest.stage} takes most of the pipeline: {each} a batch"
    advice = []
    if slowest.stage.startswith(_SERIAL) and (slowest.parallelism or 0.0) < _SEVERAL:
        advice.append("num_parallel_calls=tf.data.AUTOTUNE lets it run several at once")
    if not any(row.stage.startswith(_PREFETCH) for row in rows):
        advice.append("prefetch(tf.data.AUTOTUNE) at the end lets it work during the steps")
    return "work", "; ".join([why, *advice])
