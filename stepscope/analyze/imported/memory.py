"""Memory in the traces of other tools: what an allocator handed out and got back."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from stepscope.analyze.memory_curve import highest
from stepscope.analyze.run import shown_path
from stepscope.analyze.traces.windows import trace_of
from stepscope.clock import Ints
from stepscope.importers.trace import Trace
from stepscope.model import LineMemory, Location, MemoryPoint, ProcessMemory
from stepscope.store.reader import ProcessData, Run

_MOST_POINTS: Final = 500
OF_ALLOCATOR: Final = (
    "Bytes that the allocator of {what} had handed out, without those from before the trace began, "
    "unless the file has them."
)


def traced_memory(process: ProcessData) -> tuple[ProcessMemory, str] | None:
    """Of the device, if anything was allocated there, and a note that says so."""
    trace = trace_of(process)
    if isinstance(trace, str) or not trace.has_memory:
        return None
    on_device = bool(trace.memory["is_device"].any())
    memory = trace.memory[trace.memory["is_device"] == on_device]
    memory = memory[np.argsort(memory["at_ns"], kind="stable")]
    level = _level(trace, np.cumsum(memory["bytes"]))
    row = ProcessMemory(
        process=process.process,
        first_bytes=int(level[0]),
        peak_bytes=int(level.max()),
        last_bytes=int(level[-1]),
        growth_bytes_per_step=None,
        points=few_points(memory["at_ns"] - process.start_ns, level),
    )
    return row, OF_ALLOCATOR.format(what="the device" if on_device else "the host")


def _level(trace: Trace, change: Ints) -> Ints:
    """Above what was there before; where the file says what there is at the end, that is known."""
    at_end = trace.head.get("allocated_bytes")
    before = at_end - int(change[-1]) if isinstance(at_end, int) else 0
    return change + max(before, -int(change.min()), 0)


def traced_lines(run: Run, process: ProcessData) -> Iterator[LineMemory]:
    """The lines that asked for memory, where the file has their stacks."""
    trace = trace_of(process)
    for each in [] if isinstance(trace, str) else trace.kept:
        file = shown_path(run, each.frame.file)
        yield LineMemory(
            location=Location(file=file, line=each.frame.line, function=each.frame.function),
            process=process.process,
            alloc_bytes=each.allocated_bytes,
            kept_bytes=each.kept_bytes,
            source=None,
        )


def few_points(at_ns: Ints, resident: Ints) -> list[MemoryPoint]:
    """Few enough to draw."""
    points = zip(*(each.tolist() for each in highest(at_ns, resident, _MOST_POINTS)), strict=True)
    return [MemoryPoint(at_ns=at, resident_bytes=held) for at, held in points]
