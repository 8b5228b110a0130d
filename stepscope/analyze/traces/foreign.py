"""Traces that other tools wrote, opened as if they were runs."""

from pathlib import Path

import numpy as np

from stepscope.analyze.run import load
from stepscope.analyze.traces.windows import read_trace
from stepscope.clock import Clock
from stepscope.importers.importer import endings
from stepscope.store import format as fmt
from stepscope.store import streams
from stepscope.store.reader import ProcessData, Run
from stepscope.store.records import Names, ProcessInfo, RunInfo


def is_trace(path: Path) -> bool:
    """A file, or a folder of traces (one per rank) that is not a run."""
    return bool(traces_in(path))


def traces_in(path: Path) -> list[Path]:
    """The file itself, or those in a folder; none for a run."""
    return [path] if path.is_file() else _traces_in(path)


def is_named_like_one(path: Path) -> bool:
    return path.name.endswith(endings())


def load_any(path: str | Path) -> Run:
    """A run, or a trace that another tool wrote."""
    return run_of_trace(Path(path)) if is_trace(Path(path)) else load(path)


def _traces_in(folder: Path) -> list[Path]:
    """Also where a profiler puts them: plugins/profile/<when>/<host>.xplane.pb, the newest."""
    if not folder.is_dir() or (folder / fmt.RUN_FILE).exists() or any(folder.glob("proc-*")):
        return []
    here = [path for path in folder.iterdir() if is_named_like_one(path) and path.is_file()]
    if here:
        return sorted(here)
    below = sorted(path for path in folder.glob("plugins/profile/*") if path.is_dir())
    return _traces_in(below[-1]) if below else []


def run_of_trace(path: Path) -> Run:
    """A trace that another tool wrote, as a run of one process about which nothing else is known; a
    folder of them as a run of several."""
    processes = [_process(file) for file in traces_in(path)]
    started_ns = min((each.start_ns for each in processes), default=0)
    info = RunInfo(format=fmt.FORMAT_VERSION, started_realtime_ns=started_ns or None)
    return Run(path, info, None, [], processes, [])


def _process(path: Path) -> ProcessData:
    """Its clock is the trace's, from its first event on."""
    nothing = np.zeros(0, streams.EVENT_DTYPE)
    start_ns, end_ns = _from_when_to_when(path)
    first = np.array([start_ns] if start_ns > 0 else [], np.uint64)
    info = ProcessInfo(format=fmt.FORMAT_VERSION, role="main", rank=None, pid=0, status="ended")
    return ProcessData(
        folder=path, info=info, names=Names(), events=nothing, lines=streams.Lines(),
        clock=Clock(first, first, first), end_ns=end_ns, notes=[], samples=streams.Samples(),
    )  # fmt: skip


def _from_when_to_when(path: Path) -> tuple[int, int]:
    trace = read_trace(path)
    if isinstance(trace, str) or not len(trace.events):
        return 0, 0
    start_ns = trace.events["start_ns"]
    return int(start_ns.min()), int((start_ns + trace.events["duration_ns"]).max())
