"""Traces that other tools wrote, asked as if they were runs."""

from pathlib import Path

import numpy as np

from stepscope.clock import Clock
from stepscope.store import format as fmt
from stepscope.store import streams
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import Names, ProcessInfo, RunInfo


def run_of_trace(path: Path) -> Run:
    """A trace that another tool wrote, as a run of one process of which nothing else is known."""
    nothing = np.zeros(0, streams.EVENT_DTYPE)
    none = nothing["start"]
    info = ProcessInfo(format=fmt.FORMAT_VERSION, role="main", rank=None, pid=0)
    process = ProcessData(
        folder=path, info=info, names=Names(), events=nothing, lines=streams.Lines(),
        clock=Clock(none, none, none), end_ns=0, notes=[], samples=streams.Samples(),
    )  # fmt: skip
    return Run(path, RunInfo(format=fmt.FORMAT_VERSION), None, [], [process], [])
