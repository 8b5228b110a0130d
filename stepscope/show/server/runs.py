"""The runs of the viewer: which there are, what state they are in, and their answers."""

import dataclasses
import functools
import os
import threading
import time
from pathlib import Path
from typing import Final

import msgspec

from stepscope.analyze.answers.processes import ending
from stepscope.analyze.answers.run_list import RunEntry, is_run, run_entry, with_changes
from stepscope.analyze.answers.run_version import run_version
from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.analyze.traces.foreign import is_trace, load_any, require_traces, traces_in
from stepscope.compare.compare import compare
from stepscope.errors import DataError, InputError
from stepscope.model import Record
from stepscope.model.comparison import ComparisonAnswer
from stepscope.model.timeline import Timeline
from stepscope.show.report.content import Progress, content
from stepscope.show.report.kept import View, keep, kept
from stepscope.show.report.page import encoded

_MOST_RUNS: Final = 2_000
_KEPT: Final = 4  # runs held in memory
# Read in a second or two, so damage is said in the terminal; of larger ones the page says it.
_AT_ONCE_BYTES: Final = 16 * 2**20
_GIVE: Final = "Give a run folder, a folder of runs, or a file that another profiler wrote."


@dataclasses.dataclass(frozen=True, eq=False)
class Opened:
    """A run as it was when its files had this version."""

    version: str
    body: bytes
    view: View

    def tile(self, from_ns: int, to_ns: int, width: int) -> Timeline:
        return self.view.timeline().tile(from_ns, to_ns, width)


class RunProgress(Record, frozen=True):
    """What is being computed for a run, since when, and how much there is to read."""

    what: str | None
    seconds: float
    trace_bytes: int


@dataclasses.dataclass
class _Work:
    what: str = "The run"
    since_s: float = dataclasses.field(default_factory=time.monotonic)

    def now(self, what: str) -> None:
        self.what = what


class Runs:
    """One run, or all runs in a folder. Everything else on the disk is out of reach: a run is asked
    for by the name under which it was found here, and no path is ever built from a request."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.is_single = is_run(self.path)
        if not self.is_single and not (self.path.is_dir() and self._found()):
            self._require_trace()
            self.is_single = True
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._opened: dict[str, Opened] = {}
        self._work: dict[str, _Work] = {}  # runs being opened, by name

    def _require_trace(self) -> None:
        if self.path.is_dir() and not is_trace(self.path):
            raise InputError(
                f"There is no run in '{self.path}'. Record one with 'stepscope run SCRIPT', "
                "or name a run folder."
            )
        if not self.path.exists():
            raise InputError(f"'{self.path}' does not exist. {_GIVE}")
        require_traces(self.path)
        if sum(file.stat().st_size for file in traces_in(self.path)) <= _AT_ONCE_BYTES:
            load_any(self.path)

    def _found(self) -> dict[str, Path]:
        """By name; links that lead elsewhere are left out."""
        if self.is_single:
            return {self.path.resolve().name or "run": self.path}
        return _runs_in(self.path)

    def entries(self) -> list[RunEntry]:
        """The newest first."""
        entries = [run_entry(name, path) for name, path in self._found().items()]
        entries.sort(key=lambda each: -(each.started_s or each.modified_s))
        return with_changes(entries[:_MOST_RUNS])

    def version(self, name: str) -> str:
        """Changes whenever more has been recorded."""
        return run_version(self._path(name))

    def compare(self, before: str, after: str) -> ComparisonAnswer:
        return compare(load_any(self._path(before)), load_any(self._path(after)))

    def progress(self, name: str) -> RunProgress:
        """How far opening it has got: big runs take a while the first time."""
        path, work = self._path(name), self._work.get(name)
        files = traces_in(path) or path.glob("proc-*/ops-*")
        traces = (file.stat().st_size for file in files)
        return RunProgress(
            what=work.what if work else None,
            seconds=time.monotonic() - work.since_s if work else 0.0,
            trace_bytes=sum(traces),
        )

    def open(self, name: str) -> Opened:
        """The run as it is now; kept until it changes. Concurrent requests share it."""
        path = self._path(name)
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            version = run_version(path)
            known = self._opened.get(name)
            if known is not None and known.version == version:
                return known
            opened = self._open(name, path, version)
            with self._lock:
                self._opened.pop(name, None)
                self._opened[name] = opened
                while len(self._opened) > _KEPT:
                    self._opened.pop(next(iter(self._opened)))
            return opened

    def _open(self, name: str, path: Path, version: str) -> Opened:
        work = self._work[name] = _Work()
        try:
            return _open(path, version, work.now)
        finally:
            self._work.pop(name, None)

    def _path(self, name: str) -> Path:
        path = self._found().get(name)
        if path is None:
            raise DataError(f"There is no run '{name}' here.")
        return path


def holds_runs(path: Path) -> bool:
    """Or is one."""
    return is_run(path) or (path.is_dir() and bool(_runs_in(path)))


def _runs_in(folder: Path) -> dict[str, Path]:
    return {
        entry.name: Path(entry.path)
        for entry in os.scandir(folder)
        if entry.is_dir(follow_symlinks=False) and is_run(Path(entry.path))
    }


def _open(path: Path, version: str, progress: Progress) -> Opened:
    view = kept(path, version)
    if view is not None:
        return _opened(version, view, is_running=False)
    run = load_any(path)
    timeline = functools.cache(lambda: run_timeline(run))
    shown = content(run, timeline=timeline, progress=progress)
    is_running = ending(run).how == "running"
    if shown.timeline is not None and not is_running:
        progress("Saving it for next time")
        keep(path, version, shown, timeline())
    return _opened(version, View(encoded(shown), timeline), is_running=is_running)


def _opened(version: str, view: View, *, is_running: bool) -> Opened:
    answer = {
        "version": version, "is_running": is_running, "content": msgspec.Raw(view.content),
    }  # fmt: skip
    return Opened(version, encoded(answer), view)
