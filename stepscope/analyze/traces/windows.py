"""Operator windows: which ones exist, which steps they slowed down, and what is in their traces."""

import dataclasses
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.shelf import Shelf, state_of
from stepscope.clock import Ints
from stepscope.errors import DataError
from stepscope.importers.beside import read_file
from stepscope.importers.causes import Causes
from stepscope.importers.importer import importer_of
from stepscope.importers.trace import Trace
from stepscope.store.plain_files import is_file
from stepscope.store.reader import ProcessData

_Mask = npt.NDArray[np.bool_]
_TOUCHED: Final = 0.1  # of a step: a window opens in the last moment of the one before
_NAMES: Final = ("", ".gz")  # a trace may have been compressed since
_shelf: Final = Shelf()


@dataclasses.dataclass(frozen=True)
class Closing:
    """When we began to close a torch window. That happens in a hook of the optimizer: the named
    ranges around it last until it is done, tens of milliseconds that are ours."""

    at_ns: int  # Unix time
    who: tuple[str, str]  # process and thread, as the trace names them

    def lasted_ns(self, who: tuple[str, str], start_ns: int, duration_ns: int) -> int:
        """How long an event of this process and thread lasted until then."""
        left_ns = max(0, self.at_ns - start_ns)
        return min(duration_ns, left_ns) if who == self.who else duration_ns

    def shorten(self, trace: Trace) -> Trace:
        threads = enumerate(trace.threads)
        here = [number for number, each in threads if (each.process, each.thread) == self.who]
        left_ns = np.maximum(self.at_ns - trace.events["start_ns"], 0)
        is_here = np.isin(trace.events["thread"], here)
        lasted_ns = trace.events["duration_ns"]
        shorter = np.where(is_here, np.minimum(lasted_ns, left_ns), lasted_ns)
        return trace.with_columns(duration_ns=shorter)


@dataclasses.dataclass(frozen=True)
class Window:
    """A stretch of time in which a framework's own profiler recorded."""

    path: Path
    start_ns: int | None  # None: a trace without a recording around it
    end_ns: int | None
    is_scripts: bool = False  # the script's own profiler wrote it
    closing: Closing | None = None  # None: not closed by us
    shift_ns: int = 0  # from its clock to the one that all ranks share


def windows(process: ProcessData) -> list[Window]:
    """Those whose trace is there."""
    if process.trace is not None:
        return [_of_trace(process, process.trace)]
    known = process.windows.by_start()
    columns = (known.name, known.thread, known.is_scripts, known.start_ns, known.end_ns)
    found = []
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for name, thread, is_scripts, start, end in rows:
        path = _path(process, name)
        if path is not None:
            closing = None if is_scripts else _closing(process, thread, end)
            found.append(Window(path, start, end, is_scripts, closing))
    return found


def _of_trace(process: ProcessData, path: Path) -> Window:
    return Window(path, None, None, is_scripts=True, shift_ns=process.trace_shift_ns)


def trace_of(process: ProcessData) -> Trace | str:
    """What another tool recorded of it, or why that cannot be read."""
    if process.trace is None:
        return "It was recorded by stepscope."
    return read_window(_of_trace(process, process.trace))


def _closing(process: ProcessData, thread: int, end_ns: int) -> Closing | None:
    known = process.names.threads.get(thread)
    if known is None or known.native_id is None:
        return None
    who = str(process.info.pid), str(known.native_id)
    return Closing(process.clock.wall_ns(end_ns), who)


def _path(process: ProcessData, name_id: int) -> Path | None:
    name = process.names.spans.get(name_id)
    if name is None or Path(name.name).name != name.name:
        return None
    paths = [process.folder / f"{name.name}{ending}" for ending in _NAMES]
    return next((path for path in paths if is_file(path)), None)


def read_window(window: Window) -> Trace | str:
    """Its trace without our own closing, or why there is none."""
    return read_trace(window.path, window.closing, window.shift_ns)


def read_trace(path: Path, closing: Closing | None = None, shift_ns: int = 0) -> Trace | str:
    """The trace, or why there is none; read once until it changes."""
    file = state_of(path)
    found = kept_trace(path)
    if found is None:
        found = was_read(path, read_anew(path))
    if isinstance(found, str) or (closing is None and not shift_ns):
        return found
    changed = _shelf.get((file, closing, shift_ns))
    if changed is None:
        changed = _shelf.keep((file, closing, shift_ns), _changed(found, closing, shift_ns))
    return changed


def read_anew(path: Path) -> Trace | str:
    try:
        return read_file(path)
    except DataError as error:
        return str(error)


def _changed(trace: Trace, closing: Closing | None, shift_ns: int) -> Trace:
    if closing is not None:
        trace = closing.shorten(trace)
    return trace.shifted(shift_ns) if shift_ns else trace


def kept_trace(path: Path) -> Trace | str | None:
    """None: it was not read yet, or there was no room to keep it."""
    return _shelf.get((state_of(path), None, 0))


def was_read(path: Path, found: Trace | str) -> Trace | str:
    """Perhaps by another process: it need not be read again."""
    return _shelf.keep((state_of(path), None, 0), found)


def read_causes(path: Path) -> Causes | None:
    """Which event caused which; None: the trace does not say, or cannot be read, which is reported
    where operators are shown."""
    try:
        return importer_of(path).causes(path)
    except DataError:
        return None


def causes_of(window: Window) -> Causes | None:
    """The same on the clock of the window's trace."""
    causes = read_causes(window.path)
    if causes is None or not window.shift_ns:
        return causes
    host, device, ns = causes.host, causes.device, window.shift_ns
    return Causes(
        dataclasses.replace(host, start_ns=host.start_ns + ns, end_ns=host.end_ns + ns),
        dataclasses.replace(
            device, start_ns=device.start_ns + ns, end_ns=device.end_ns + ns,
            spans={group: (start + ns, end + ns) for group, (start, end) in device.spans.items()},
        ),
    )  # fmt: skip


def slowed_steps(process: ProcessData, start_ns: Ints, end_ns: Ints) -> _Mask:
    """The steps of our own windows and the one after each: opening, recording and closing one
    takes time that a step otherwise does not have."""
    slowed = np.zeros(len(start_ns), np.bool_)
    ours = process.windows[~process.windows.is_scripts].by_start()
    for start, end in zip(ours.start_ns.tolist(), ours.end_ns.tolist(), strict=True):
        overlap = np.minimum(end_ns, end) - np.maximum(start_ns, start)
        slowed |= overlap > _TOUCHED * (end_ns - start_ns)
        last = int(np.searchsorted(start_ns, end)) - 1  # the window was closed in this step
        slowed[max(0, last) : last + 2] = True
    return slowed


def steps_begun(window: Window, start_ns: Ints) -> _Mask:
    """Which steps began in the window."""
    if window.start_ns is None or window.end_ns is None:
        return np.zeros(len(start_ns), np.bool_)
    return (start_ns >= window.start_ns) & (start_ns < window.end_ns)
