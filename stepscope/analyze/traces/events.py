"""The events of an operator window as the framework wrote them, in Unix time and with their lines.

For code that exports a trace: nothing of an event is lost, and few events are held at a time.
"""

from collections.abc import Iterator
from typing import Any

from stepscope.analyze.traces.operator_lines import place_operators
from stepscope.analyze.traces.operator_tree import op_tree
from stepscope.analyze.traces.windows import Window, read_window
from stepscope.importers.importer import importer_of
from stepscope.importers.trace import Trace
from stepscope.importers.written_events import Event, Written
from stepscope.store.reader import ProcessData

Key = tuple[str, str, int]  # process and thread as the trace has them, start in Unix ns


def trace_head(window: Window) -> dict[str, Any] | str:
    """What the trace says about itself, or why it cannot be read."""
    trace = read_window(window)
    return trace if isinstance(trace, str) else trace.head


def unix_events(window: Window) -> Iterator[Written]:
    """Each event, when it began in Unix ns, and how many ns it lasted."""
    trace = read_window(window)
    if isinstance(trace, str):
        return
    for event, start_ns, lasted_ns in importer_of(window.path).written_events(trace):
        yield event, start_ns, _until_closing(window, event, start_ns, lasted_ns)


def _until_closing(window: Window, event: Event, start_ns: int, lasted_ns: int) -> int:
    if window.closing is None:
        return lasted_ns
    who = str(event.get("pid")), str(event.get("tid"))
    return window.closing.lasted_ns(who, start_ns, lasted_ns)


def profile_of(window: Window) -> bytes | None:
    """The trace as TensorBoard's profile plugin reads it; None: it does not."""
    return importer_of(window.path).profile(window.path)


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
    for key, index in zip(_keys(trace, tree.device), tree.launcher.tolist(), strict=True):
        if index >= 0 and lines[index][0]:
            found[key] = lines[index]
    return found


def _keys(trace: Trace, events: Any) -> Iterator[Key]:
    for thread, start_ns in zip(
        events["thread"].tolist(), events["start_ns"].tolist(), strict=True
    ):
        yield trace.threads[thread].process, trace.threads[thread].thread, start_ns
