"""What every operator window records beside its trace: its times, the lines, our cost."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Final

from stepscope.native import _core
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

MOST_LINES: Final = 200_000  # in the line log: 10 MB


def mark(path: str, start_ticks: int, end_ticks: int, *, is_scripts: bool = False) -> None:
    """Record which time the file `path` covers."""
    if naming.name_id is not None:
        name = naming.name_id(os.path.basename(path))
        _core.window(name, start_ticks, end_ticks, is_scripts=is_scripts)


def log_lines(until: int, on_line: Callable[[], None] | None) -> None:
    """`on_line` is called at the first line of the user's code that begins after `until` ticks."""
    if sys.version_info >= (3, 12):
        sys.monitoring.restart_events()  # thinned lines are needed now
    _core.lines_log(MOST_LINES, until, on_line)


@contextlib.contextmanager
def ours(what: str) -> Iterator[None]:
    """Our own time, as the phase `profiler`."""
    span = _core.span_begin(naming.name_id(what), SpanCategory.PROFILER) if naming.name_id else 0
    try:
        yield
    finally:
        _core.span_end(span)
