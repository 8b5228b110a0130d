"""What was and was not recorded in a run, and how to get what is missing."""

from typing import Final

import numpy as np

from stepscope.analyze.traces.windows import trace_of, windows
from stepscope.importers.trace import ON_DEVICE, Category, Trace
from stepscope.model.page import Recorded
from stepscope.store.reader import Run

_NOT_IN_TRACE: Final = "not in the trace"


def recorded(run: Run) -> list[Recorded]:
    rows = _of_trace(run) if run.is_trace else _of_run(run)
    return [*rows, _row("processes", len(run.processes), "process", "none", "processes")]


def _of_run(run: Run) -> list[Recorded]:
    processes = run.processes
    hits = sum(
        int(block.hits.astype(np.int64).sum()) for each in processes for block in each.lines.blocks
    )
    samples = sum(int(each.samples.samples["count"].sum()) for each in processes)
    return [
        _row("lines", hits, "hit", "none of your lines ran, or none was recorded"),
        _row("stacks", samples, "sample", "the run was too short for samples"),
        _row("calls", _calls(run), "call", "'stepscope run --calls' counts every call"),
        _row(
            "operators", _windows(run), "window",
            "no framework with operators was used, or too few steps; '--ops all' records them "
            "from the start",
        ),
        _row("files", sum(len(each.opens) for each in processes), "opening",
             "your code opened no files"),
        _row("memory", sum(len(each.memory) for each in processes), "point",
             "the run was too short"),
    ]  # fmt: skip


def _of_trace(run: Run) -> list[Recorded]:
    """What another tool recorded."""
    traces = [each for each in map(trace_of, run.processes) if not isinstance(each, str)]
    operators = sum(int(each.is_of(Category.OP).sum()) for each in traces)
    kernels = sum(int(each.is_of(*ON_DEVICE).sum()) for each in traces)
    memory = sum(len(each.memory) for each in traces)
    return [
        _row("operators", operators, "operator", _NOT_IN_TRACE),
        _row("device", kernels, "kernel or copy", _NOT_IN_TRACE, "kernels and copies"),
        _row("stacks", _calls(run), "call", _without(traces, "with_stack=True adds them")),
        _row("memory", memory, "allocation or free",
             _without(traces, "profile_memory=True adds it"), "allocations and frees"),
    ]  # fmt: skip


def _without(traces: list[Trace], way: str) -> str:
    is_torchs = any(each.framework == "torch" for each in traces)
    return f"{_NOT_IN_TRACE}: torch's {way}" if is_torchs else _NOT_IN_TRACE


def _calls(run: Run) -> int:
    counted = [each for each in run.processes if each.calls.is_recorded]
    return sum(int(each.calls.calls.sum()) for each in counted)


def _windows(run: Run) -> int:
    return sum(len(windows(each)) for each in run.processes)


def _row(what: str, number: int, one: str, without: str, many: str | None = None) -> Recorded:
    unit = one if number == 1 else many or f"{one}s"
    text = f"{number:,} {unit}" if number else without
    return Recorded(what=what, is_there=number > 0, text=text)
