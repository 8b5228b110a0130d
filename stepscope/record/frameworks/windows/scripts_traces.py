"""Traces that the script's own profiler has written: a copy of each becomes a window."""

import os
import shutil
from collections.abc import Callable
from typing import Final

from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.windows.window_events import mark, ours
from stepscope.signal_handlers import let_pass

_LARGEST_BYTES: Final = 256 * 2**20  # copying more would hold up the training
_MOST: Final = 4  # how many are kept
_TOO_LARGE: Final = "The script's own trace is larger than 256 MB: it is not copied into the run."


class ScriptsTraces:
    """`next_path`: where the next window's trace goes."""

    def __init__(self, recording: RunningRecording, next_path: Callable[[], str]) -> None:
        self._recording = recording
        self._next_path = next_path
        self._adopted = 0

    def adopt(self, find: Callable[[], str | None], start_ticks: int, end_ticks: int) -> bool:
        """Whether a window was added. `find`: returns the trace's path, None without one."""
        if self._adopted >= _MOST:
            return False
        with ours("trace of the script"):
            try:
                path = find()
                return path is not None and self._copy(path, start_ticks, end_ticks)
            except Exception as error:
                let_pass(error)
                self._recording.note(f"The script's own trace could not be copied: {error!r}")
                return False

    def _copy(self, path: str, start_ticks: int, end_ticks: int) -> bool:
        if os.path.getsize(path) > _LARGEST_BYTES:
            self._recording.note(_TOO_LARGE)
            return False
        self._adopted += 1
        copy = self._next_path()
        shutil.copyfile(path, f"{copy}.{os.getpid()}")
        os.replace(f"{copy}.{os.getpid()}", copy)
        mark(copy, start_ticks, end_ticks, is_scripts=True)
        return True
