"""Traces that other tools wrote, asked as if they were runs."""

from pathlib import Path
from typing import Final

import numpy as np

from stepscope.clock import Clock
from stepscope.store import format as fmt
from stepscope.store import streams
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import Names, ProcessInfo, RunInfo

_ENDINGS: Final = (".json", ".json.gz", ".xplane.pb", ".xplane.pb.gz")


def is_trace(path: Path) -> bool:
    """A file, or a folder of traces (one a rank) that is no run."""
    return path.is_file() or bool(_traces_in(path))


def _traces_in(folder: Path) -> list[Path]:
    """Also where a profiler puts them: plugins/profile/<when>/<host>.xplane.pb, the newest."""
    if not folder.is_dir() or (folder / fmt.RUN_FILE).exists() or any(folder.glob("proc-*")):
        return []
    here = [path for path in folder.iterdir() if path.name.endswith(_ENDINGS) and path.is_file()]
    if here:
        return sorted(here)
    below = sorted(path for path in folder.glob("plugins/profile/*") if path.is_dir())
    return _traces_in(below[-1]) if below else []


def run_of_trace(path: Path) -> Run:
    """A trace that another tool wrote, as a run of one process of which nothing else is known; a
    folder of them as one of several."""
    files = [path] if path.is_file() else _traces_in(path)
    processes = [_process(file) for file in files]
    return Run(path, RunInfo(format=fmt.FORMAT_VERSION), None, [], processes, [])


def _process(path: Path) -> ProcessData:
    nothing = np.zeros(0, streams.EVENT_DTYPE)
    none = nothing["start"]
    info = ProcessInfo(format=fmt.FORMAT_VERSION, role="main", rank=None, pid=0)
    return ProcessData(
        folder=path, info=info, names=Names(), events=nothing, lines=streams.Lines(),
        clock=Clock(none, none, none), end_ns=0, notes=[], samples=streams.Samples(),
    )  # fmt: skip
