"""The operator windows of a run with their traces, for code that exports the traces."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from stepscope.analyze.run import code_location
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.analyze.traces.events import (
    lines_of_events,
    profile_of,
    trace_head,
    unix_events,
)
from stepscope.analyze.traces.windows import Window, windows
from stepscope.importers.written_events import Event
from stepscope.model import Location
from stepscope.store.reader import ProcessData, Run

_LEAST_LEFT: Final = 0.5  # of the shortest step: a window closes in its last step, which counts


@dataclasses.dataclass(frozen=True, eq=False)
class TracedWindow:
    """`head`: what the trace says about itself."""

    run: Run
    process: ProcessData
    window: Window
    head: dict[str, Any]

    @property
    def path(self) -> Path:
        return self.window.path

    def profile(self) -> bytes | None:
        """The trace as TensorBoard's profile plugin reads it; None: it does not."""
        return profile_of(self.window)

    @property
    def pid(self) -> int:
        return self.process.info.pid

    @property
    def host(self) -> str:
        return self.process.info.host

    @property
    def began_unix_ns(self) -> int:
        return self.process.clock.wall_ns(self.window.start_ns or 0)

    def events(self) -> Iterator[tuple[Event, int, int]]:
        """Each event, when it began in Unix ns, and how many ns it lasted."""
        return unix_events(self.window)

    def placed_events(self) -> Iterator[tuple[Event, int, int, Location | None]]:
        """The same, and the line that each belongs to."""
        lines = lines_of_events(self.process, self.window)
        for event, at_ns, lasted_ns in self.events():
            line = lines.get((str(event.get("pid")), str(event.get("tid")), at_ns))
            where = code_location(self.run, self.process, *line) if line else None
            yield event, at_ns, lasted_ns, where

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """The number of each step in it, counted from 1, when it began after the window did, and
        how many ns of it are inside."""
        begin, end = self.window.start_ns, self.window.end_ns
        steps = find_steps(self.run, self.process)
        if begin is None or end is None or not len(steps):
            return
        start_ns, end_ns = np.maximum(steps.start_ns, begin), np.minimum(steps.end_ns, end)
        left_ns = end_ns - start_ns
        is_whole = left_ns == steps.duration_ns
        kept = is_whole | (left_ns > _LEAST_LEFT * steps.duration_ns.min())
        for index in np.flatnonzero(kept).tolist():
            yield index + 1, int(start_ns[index]) - begin, int(left_ns[index])

    @property
    def native_thread(self) -> int:
        """Of the steps, as the system counts threads."""
        thread = find_steps(self.run, self.process).thread
        known = self.process.names.threads.get(thread)
        return (known.native_id if known else None) or self.pid


def traced_windows(run: Run, process: ProcessData | None = None) -> Iterator[TracedWindow | str]:
    """Of all processes, or of one; if a trace cannot be read, the reason."""
    for each in run.processes if process is None else [process]:
        for window in windows(each):
            head = trace_head(window)
            yield head if isinstance(head, str) else TracedWindow(run, each, window, head)
