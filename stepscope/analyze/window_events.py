"""The events of an operator window as the framework wrote them, in Unix time and with their lines.

For those who hand a trace on: nothing of an event is lost, and few events are held at a time.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from stepscope.analyze.op_lines import place_operators
from stepscope.analyze.op_tree import launched_by, op_tree
from stepscope.analyze.windows import Window, read_trace
from stepscope.importers.kineto import Trace
from stepscope.importers.trace_text import TraceText
from stepscope.store.reader import ProcessData

Event = dict[str, Any]
Key = tuple[str, str, int]  # process and thread as the trace has them, start in Unix ns
_FARTHEST_US: Final = 2.0**61 / 1000


def trace_head(path: Path) -> dict[str, Any] | str:
    """What the trace says of itself, or why it cannot be read."""
    trace = read_trace(path)
    return trace if isinstance(trace, str) else trace.head


def unix_events(path: Path) -> Iterator[tuple[Event, int, int]]:
    """Each event, when it began in Unix ns, and how many ns it lasted."""
    head = trace_head(path)
    base = head.get("baseTimeNanoseconds", 0) if isinstance(head, dict) else 0
    base_ns = int(base) if isinstance(base, int | float) else 0
    for events in TraceText(path, dict[str, Any]):
        for event in events:
            yield event, base_ns + _ns(event.get("ts")), max(0, _ns(event.get("dur")))


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
    trace = read_trace(window.path)
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
