"""One window under the profiler of TensorFlow or JAX, whose trace becomes ops-<n>.xplane.pb.

Both write it somewhere below a folder that they are given. Nothing of it is read here.
"""

import os
import shutil
from collections.abc import Iterator
from typing import Final, Protocol

from stepscope.native import _core
from stepscope.record.frameworks.windows.window_events import log_lines, mark, ours
from stepscope.store.format import OPS_FILE

_ENDING: Final = "xplane.pb"


class XplaneProfiler(Protocol):
    """The framework's own profiler: one per process."""

    def danger(self) -> str | None:
        """Why it must not be used here."""

    def start(self, folder: str) -> None: ...

    def stop(self, *, keep: bool) -> None:
        """`keep`: write the trace into the folder."""


_numbers: dict[str, int] = {}


def next_path(folder: str) -> str:
    """In this process's folder: TensorFlow and JAX may both be running in it."""
    number = _numbers[folder] = _numbers.get(folder, 0) + 1
    return os.path.join(folder, OPS_FILE.format(number=number, ending=_ENDING))


class XplaneWindow:
    """`open`, then `close`."""

    def __init__(self, profiler: XplaneProfiler, folder: str) -> None:
        self._profiler = profiler
        self.path = next_path(folder)
        self._unfinished = f"{self.path}.{os.getpid()}"
        self.start_ticks = 0

    def open(self) -> None:
        with ours("operator window: start"):
            self._profiler.start(self._unfinished)
            log_lines(0, None)
        self.start_ticks = _core.ticks()

    def close(self, *, keep: bool) -> None:
        """Stop, and keep the trace if it is wanted."""
        end_ticks = _core.ticks()
        _core.lines_log(0)
        with ours("operator window: end"):
            try:
                self._profiler.stop(keep=keep)
                if keep:
                    os.replace(_largest(self._unfinished), self.path)
            finally:
                shutil.rmtree(self._unfinished, ignore_errors=True)
            mark(self.path, self.start_ticks, end_ticks)


def xplanes_in(folder: str) -> Iterator[str]:
    for where, _, names in os.walk(folder):
        yield from (os.path.join(where, name) for name in names if name.endswith(_ENDING))


def _largest(folder: str) -> str:
    found = max(xplanes_in(folder), key=os.path.getsize, default=None)
    if found is None:
        raise FileNotFoundError("the profiler wrote no trace")
    return found
