"""The events of an operator window as the framework wrote them, in Unix time and with their lines.

For those who hand a trace on: nothing of an event is lost, and few events are held at a time.
"""

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from stepscope.analyze.traces.operator_lines import place_operators
from stepscope.analyze.traces.operator_tree import launched_by, op_tree
from stepscope.analyze.traces.windows import Window, is_xplane, read_window
from stepscope.importers.trace import Category, Trace
from stepscope.importers.trace_text import TraceText
from stepscope.store.reader import ProcessData

Event = dict[str, Any]
Key = tuple[str, str, int]  # process and thread as the trace has them, start in Unix ns
_FARTHEST_US: Final = 2.0**61 / 1000
_WORDS: Final = {  # Kineto's, for what an xplane has
    Category.OTHER: "runtime",
    Category.OP: "cpu_op",
    Category.ANNOTATION: "user_annotation",
    Category.RUNTIME: "cuda_runtime",
    Category.KERNEL: "kernel",
    Category.MEMCPY: "gpu_memcpy",
    Category.MEMSET: "gpu_memset",
    Category.PYTHON: "python_function",
}


def trace_head(window: Window) -> dict[str, Any] | str:
    """What the trace says of itself, or why it cannot be read."""
    trace = read_window(window)
    return trace if isinstance(trace, str) else trace.head


def unix_events(window: Window) -> Iterator[tuple[Event, int, int]]:
    """Each event, when it began in Unix ns, and how many ns it lasted."""
    if is_xplane(window.path):
        yield from _xplane_events(window)
        return
    head = trace_head(window)
    base = head.get("baseTimeNanoseconds", 0) if isinstance(head, dict) else 0
    base_ns = int(base) if isinstance(base, int | float) else 0
    for events in TraceText(window.path, dict[str, Any]):
        for event in events:
            start_ns = base_ns + _ns(event.get("ts"))
            yield event, start_ns, _lasted_ns(window, event, start_ns)


def _lasted_ns(window: Window, event: Event, start_ns: int) -> int:
    told_ns = max(0, _ns(event.get("dur")))
    if window.closing is None:
        return told_ns
    who = str(event.get("pid")), str(event.get("tid"))
    return window.closing.lasted_ns(who, start_ns, told_ns)


def _xplane_events(window: Window) -> Iterator[tuple[Event, int, int]]:
    """In the form of Kineto's."""
    trace = read_window(window)
    if isinstance(trace, str):
        return
    seen = np.unique(trace.events["thread"]).tolist()
    for thread in (trace.threads[number] for number in seen):
        here: Event = {"ph": "M", "pid": thread.process, "tid": thread.thread}
        yield here | {"name": "process_name", "args": {"name": thread.process}}, 0, 0
        if thread.name:
            yield here | {"name": "thread_name", "args": {"name": thread.name}}, 0, 0
    names = ("name", "category", "thread", "correlation", "start_ns", "duration_ns")
    columns = (trace.events[name].tolist() for name in names)
    for name, category, number, correlation, start_ns, duration_ns in zip(*columns, strict=True):
        thread = trace.threads[number]
        event: Event = {
            "ph": "X", "name": trace.names[name], "cat": _WORDS[category], "pid": thread.process,
            "tid": thread.thread, "args": {"correlation": correlation} if correlation >= 0 else {},
        }  # fmt: skip
        yield event, start_ns, duration_ns


def _ns(us: Any) -> int:
    """As the importer rounds; what is no number is 0."""
    try:
        value = float(us)
    except (TypeError, ValueError, OverflowError):
        return 0
    if not math.isfinite(value) or abs(value) >= _FARTHEST_US:
        return 0
    whole = math.floor(value)
    return whole * 1000 + round((value - whole) * 1000)


def lines_of_events(process: ProcessData, window: Window) -> dict[Key, tuple[int, int]]:
    """Code and line of each operator and of what it launched, by where and when it began."""
    trace = read_window(window)
    if isinstance(trace, str):
        return {}
    tree, places = op_tree(trace), place_operators(process, window, trace)
    lines = list(zip(places.code.tolist(), places.line.tolist(), strict=True))
    found = {}
    for key, line in zip(_keys(trace, tree.events), lines, strict=True):
        if line[0]:
            found[key] = line
    device, operator = launched_by(trace, tree.events)
    for key, index in zip(_keys(trace, device), operator.tolist(), strict=True):
        if index >= 0 and lines[index][0]:
            found[key] = lines[index]
    return found


def _keys(trace: Trace, events: Any) -> Iterator[Key]:
    for thread, start_ns in zip(
        events["thread"].tolist(), events["start_ns"].tolist(), strict=True
    ):
        yield trace.threads[thread].process, trace.threads[thread].thread, start_ns
