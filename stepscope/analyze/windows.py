"""Operator windows: which there are, which steps they slowed down, and what is in their traces."""

import dataclasses
import functools
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.errors import DataError
from stepscope.importers.kineto import read_kineto
from stepscope.importers.trace import Trace
from stepscope.importers.xplane_trace import read_xplane_trace
from stepscope.store.format import EventKind
from stepscope.store.reader import ProcessData

_Mask = npt.NDArray[np.bool_]
_TOUCHED: Final = 0.1  # of a step: a window opens in the last moment of the one before
_NAMES: Final = ("", ".gz")  # a trace may have been compressed since
_XPLANE: Final = (".pb", ".pb.gz")


@dataclasses.dataclass(frozen=True)
class Window:
    """A stretch of time in which a framework's own profiler recorded."""

    path: Path
    start_ns: int | None  # None: of a trace without a recording around it
    end_ns: int | None
    is_scripts: bool = False  # the script's own profiler wrote it


def windows(process: ProcessData) -> list[Window]:
    """Those whose trace is there."""
    if process.folder.is_file():
        return [Window(process.folder, None, None, is_scripts=True)]
    events = _events(process)
    start_ns, end_ns = process.interval_ns(events)
    found = []
    for event, start, end in zip(events, start_ns.tolist(), end_ns.tolist(), strict=True):
        path = _path(process, int(event["name"]))
        if path is not None:
            found.append(Window(path, start, end, is_scripts=bool(event["extra"])))
    return found


def _events(process: ProcessData) -> npt.NDArray[Any]:
    events = process.of_kind(EventKind.WINDOW)
    kept: npt.NDArray[Any] = events[np.argsort(events["start"], kind="stable")]
    return kept


def _path(process: ProcessData, name_id: int) -> Path | None:
    name = process.names.spans.get(name_id)
    if name is None or Path(name.name).name != name.name:
        return None
    paths = [process.folder / f"{name.name}{ending}" for ending in _NAMES]
    return next((path for path in paths if path.is_file()), None)


def is_xplane(path: Path) -> bool:
    """Written by TensorFlow or JAX; by torch otherwise."""
    return path.name.endswith(_XPLANE)


def read_trace(path: Path) -> Trace | str:
    """The trace, or why there is none; read once until it changes."""
    try:
        stat = path.stat()
    except OSError:
        return _read(path, (0, 0))
    return _read(path, (stat.st_mtime_ns, stat.st_size))


@functools.lru_cache(maxsize=16)
def _read(path: Path, _state: tuple[int, int]) -> Trace | str:
    try:
        return read_xplane_trace(path) if is_xplane(path) else read_kineto(path)
    except DataError as error:
        return str(error)


def slowed_steps(process: ProcessData, start_ns: Ints, end_ns: Ints) -> _Mask:
    """The steps of our own windows and the one after each: opening, recording and closing one
    takes time that a step otherwise has not."""
    slowed = np.zeros(len(start_ns), np.bool_)
    events = _events(process)
    events = events[events["extra"] == 0]
    if not len(events):
        return slowed
    for start, end in zip(*(each.tolist() for each in process.interval_ns(events)), strict=True):
        overlap = np.minimum(end_ns, end) - np.maximum(start_ns, start)
        slowed |= overlap > _TOUCHED * (end_ns - start_ns)
        last = int(np.searchsorted(start_ns, end)) - 1  # it was closed in this one
        slowed[max(0, last) : last + 2] = True
    return slowed


def steps_begun(window: Window, start_ns: Ints) -> _Mask:
    """Which steps began in the window."""
    if window.start_ns is None or window.end_ns is None:
        return np.zeros(len(start_ns), np.bool_)
    return (start_ns >= window.start_ns) & (start_ns < window.end_ns)
