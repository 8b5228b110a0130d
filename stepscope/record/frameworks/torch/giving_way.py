"""PyTorch: one profiler a process. The script's own goes first, and its trace becomes ours.

Two at once end the process, also while the other one's schedule is only warming up. All of torch's
own profilers pass through the places that are watched here.
"""

import functools
import os
import shutil
import sys
import threading
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch.window import log_lines, mark
from stepscope.record.frameworks.torch.windows import Windows
from stepscope.record.frameworks.watching import recording_times
from stepscope.record.frameworks.watching.patches import Patches, leave_out_this_frame
from stepscope.record.steps import marks
from stepscope.store.format import OPS_FILE, SpanCategory

_PATIENCE_S: Final = 30.0  # of a profiler that begins on another thread than our window's
_LARGEST_BYTES: Final = 256 * 2**20
_MOST: Final = 4  # traces of the script's own that are kept
# Contexts of torch.autograd that profile without the class `profile`.
_OTHERS: Final = (
    ("profiler", "emit_nvtx"),
    ("profiler", "emit_itt"),
    ("profiler_legacy", "profile"),
)


def install(torch: Any, patches: Patches, windows: Windows) -> None:
    way = _Way(windows)
    recorder = torch.autograd.profiler.profile
    for name in ("_prepare_trace", "_start_trace"):
        _around(patches, recorder, name, before=getattr(way, name.strip("_")))
    _around(patches, recorder, "__exit__", before=way.stops, after=way.ended)
    _around(patches, recorder, "export_chrome_trace", after=way.exported)
    scheduled = torch.profiler.profile
    _around(patches, scheduled, "start", before=way.begins)
    _around(patches, scheduled, "stop", after=way.ended)
    for module, name in _OTHERS:
        kind = getattr(sys.modules.get(f"torch.autograd.{module}"), name, None)
        if kind is not None:
            _around(patches, kind, "__enter__", before=way.begins)
            _around(patches, kind, "__exit__", after=way.ended)


def _around(
    patches: Patches, owner: Any, name: str, *, before: Any = None, after: Any = None
) -> None:
    function = vars(owner).get(name)
    if function is None:
        return

    @functools.wraps(function)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before(self)
        try:
            result = function(self, *args, **kwargs)
        except BaseException as error:
            if after is not None and name != "export_chrome_trace":
                after(self)
            leave_out_this_frame(error)
            raise
        if after is not None:
            after(self, *args, **kwargs)
        return result

    patches.set(owner, name, run)


class _Way:
    """Who profiles right now, besides us."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._at_work: set[int] = set()
        self._times: dict[int, list[int]] = {}  # when a trace of theirs began and ended, in ticks
        self._logging = False
        self._adopted = 0

    def begins(self, profiler: Any) -> None:
        if self._windows.is_working:
            return  # ours
        self._at_work.add(id(profiler))
        self._windows.foreign = len(self._at_work)
        self._windows.make_way(_PATIENCE_S)

    prepare_trace = begins

    def start_trace(self, profiler: Any) -> None:
        if self._windows.is_working:
            return
        self.begins(profiler)
        self._times[id(profiler)] = [_core.ticks(), 0]
        if threading.get_ident() == threading.main_thread().ident and not self._logging:
            self._logging = True
            log_lines(0, None)

    def stops(self, profiler: Any) -> None:
        if id(profiler) in self._times:
            self._times[id(profiler)][1] = _core.ticks()
        if self._logging and not self._windows.is_working:
            self._logging = False
            _core.lines_log(0)

    def ended(self, profiler: Any, *_args: Any, **_kwargs: Any) -> None:
        self._at_work.discard(id(profiler))
        self._windows.foreign = len(self._at_work)

    def exported(self, profiler: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        """The script has written a trace: a copy of it is a window of ours."""
        times = self._times.pop(id(profiler), None)
        if self._windows.is_working or times is None or self._adopted >= _MOST:
            return
        recording = self._windows.recording
        span = (
            _core.span_begin(marks.name_id("trace of the script"), SpanCategory.PROFILER)
            if marks.name_id
            else 0
        )
        try:
            self._adopt(recording, os.fspath(path), times)
        except Exception as error:
            recording.note(f"The script's own trace could not be taken over: {error!r}")
        finally:
            _core.span_end(span)

    def _adopt(self, recording: recording_times.Recording, path: str, times: list[int]) -> None:
        if os.path.getsize(path) > _LARGEST_BYTES:
            recording.note("The script's own trace is larger than 256 MB: it is left where it is.")
            return
        self._adopted += 1
        number = self._windows.next_number()
        ours = os.path.join(recording.folder(), OPS_FILE.format(number=number, ending="json"))
        shutil.copyfile(path, f"{ours}.{os.getpid()}")
        os.replace(f"{ours}.{os.getpid()}", ours)
        mark(ours, times[0], times[1], is_scripts=True)
        self._windows.adopted()
