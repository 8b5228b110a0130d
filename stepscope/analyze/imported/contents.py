"""What is in the files of other tools: which views they have something for, and that in a sentence
each."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.code.functions import functions
from stepscope.analyze.intervals import union
from stepscope.analyze.traces.collective_calls import collective_calls
from stepscope.analyze.traces.windows import trace_of
from stepscope.importers.trace import ON_DEVICE, Category, Trace
from stepscope.model.durations import duration
from stepscope.store.reader import Run

_RUNS_ON: Final = (Category.OP, Category.ANNOTATION, Category.RUNTIME, *ON_DEVICE)


def views_of_trace(run: Run) -> list[str]:
    """In the order of `stepscope show --help`."""
    traces = _readable(run)
    there = {
        "summary": True,
        **dict.fromkeys(("findings", "steps"), _has_operators(traces)),
        "lines": any(process.lines.blocks for process in run.processes),
        "functions": _has_functions(run, traces),
        "ops": _has_operators(traces),
        **dict.fromkeys(("kernels", "device"), any(trace.has_device for trace in traces)),
        "input": _has_operators(traces),
        "memory": any(trace.has_memory or trace.kept for trace in traces),
        "ranks": _has_ranks(run, traces),
        "processes": True,
    }
    return [view for view, is_there in there.items() if is_there]


def _readable(run: Run) -> list[Trace]:
    found = (trace_of(process) for process in run.processes)
    return [trace for trace in found if not isinstance(trace, str)]


def _has_operators(traces: list[Trace]) -> bool:
    """What can be read but has no events at all is a trace without any."""
    return any(
        trace.is_of(*_RUNS_ON).any() or not (len(trace.events) or trace.has_other_tables)
        for trace in traces
    )


def _has_functions(run: Run, traces: list[Trace]) -> bool:
    counted = any(process.calls.is_recorded for process in run.processes)
    return counted or any(trace.functions for trace in traces)


def _has_ranks(run: Run, traces: list[Trace]) -> bool:
    """Several, or one that talks to others."""
    if len({each.info.rank for each in run.processes} - {None}) > 1:
        return True
    return any(len(collective_calls(trace, trace.of(*ON_DEVICE))) for trace in traces)


# --- in sentences ---------------------------------------------------------------------------------


def contents(run: Run) -> list[str]:
    """Of the main process."""
    trace = trace_of(run.main) if run.main is not None else ""
    if isinstance(trace, str):
        return [trace] if trace else []
    found = _operators(trace), _device(trace), _functions(run, trace), _lines(trace), _memory(trace)
    return [sentence for each in found for sentence in each]


def _operators(trace: Trace) -> Iterator[str]:
    events = trace.of(Category.OP)
    if len(events):
        kinds = len(np.unique(events["name"]))
        yield f"{len(events):,} operators of {kinds:,} kinds"


def _device(trace: Trace) -> Iterator[str]:
    events = trace.of(*ON_DEVICE)
    if not len(events):
        return
    starts, ends = union(events["start_ns"], events["start_ns"] + events["duration_ns"])
    busy_ns, wall_ns = int((ends - starts).sum()), int(ends[-1] - starts[0])
    share = f"{100 * busy_ns / max(1, wall_ns):.1f} %"
    yield f"{len(events):,} kernels and copies: a device was busy {share} of {duration(wall_ns)}"


def _functions(run: Run, trace: Trace) -> Iterator[str]:
    if not _has_functions(run, [trace]):
        return
    rows = functions(run).functions
    calls = sum(row.ncalls or 0 for row in rows)
    own_ns = sum(row.tottime_ns or 0 for row in rows)
    most = rows[0]
    share = f"{100 * (most.tottime_ns or 0) / max(1, own_ns):.1f} %"
    place = f"{most.file}:{most.line}" if most.line else most.file
    counted = f"{calls:,} calls of {len(rows):,} functions"
    yield f"{counted}: {share} of the time in {most.function} ({place})"


def _lines(trace: Trace) -> Iterator[str]:
    if trace.line_times:
        lines = sum(len(each.lines) for each in trace.line_times)
        yield f"{lines:,} lines of {len(trace.line_times):,} functions"


def _memory(trace: Trace) -> Iterator[str]:
    if trace.has_memory:
        yield f"{len(trace.memory):,} allocations and frees"
