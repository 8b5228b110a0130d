"""PyTorch: one profiler per process. The script's own goes first, and we take over its trace.

Two at once crash the process, even while the other one's schedule is only warming up. All of
torch's own profilers pass through the places that are watched here.
"""

import functools
import os
import sys
import threading
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch.windows import Windows
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import do_nothing
from stepscope.record.frameworks.windows.scripts_traces import ScriptsTraces
from stepscope.record.frameworks.windows.window_events import log_lines

_PATIENCE_S: Final = 30.0  # of a profiler that starts on another thread than our window
# Contexts of torch.autograd that profile without the class `profile`.
_OTHERS: Final = (
    ("profiler", "emit_nvtx"),
    ("profiler", "emit_itt"),
    ("profiler_legacy", "profile"),
)


def install(torch: Any, patches: Patches, windows: Windows) -> None:
    theirs = _ScriptsProfilers(windows)
    recorder = torch.autograd.profiler.profile
    for name in ("_prepare_trace", "_start_trace"):
        _around(patches, recorder, name, before=getattr(theirs, name.strip("_")))
    _around(patches, recorder, "__exit__", before=theirs.stops, after=theirs.ended)
    _around(patches, recorder, "export_chrome_trace", after=theirs.exported)
    scheduled = torch.profiler.profile
    _around(patches, scheduled, "start", before=theirs.begins)
    _around(patches, scheduled, "stop", after=theirs.ended)
    for module, name in _OTHERS:
        kind = getattr(sys.modules.get(f"torch.autograd.{module}"), name, None)
        if kind is not None:
            _around(patches, kind, "__enter__", before=theirs.begins)
            _around(patches, kind, "__exit__", after=theirs.ended)


def _around(
    patches: Patches, owner: Any, name: str, *, before: Any = None, after: Any = None
) -> None:
    if name not in vars(owner):
        return
    at_end = after or do_nothing

    def begins(profiler: Any, /, *args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before(profiler)
        return functools.partial(at_end, profiler, *args, **kwargs)

    def ended(report: Any, _result: Any) -> None:
        report()

    # Where nothing was exported, there is nothing to take over.
    failed = do_nothing if name == "export_chrome_trace" else None
    patches.watch(owner, name, begins, ended, failed)


class _ScriptsProfilers:
    """Which profiler is running right now, apart from ours."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._current = windows.current
        self._traces = ScriptsTraces(windows.recording, windows.current.next_path)
        self._at_work: set[int] = set()
        self._times: dict[int, list[int]] = {}  # when a trace of theirs began and ended, in ticks
        self._logging = False

    def begins(self, profiler: Any) -> None:
        if self._current.is_working:
            return  # ours
        self._at_work.add(id(profiler))
        self._current.foreign = len(self._at_work)
        self._windows.make_way(_PATIENCE_S)

    prepare_trace = begins

    def start_trace(self, profiler: Any) -> None:
        if self._current.is_working:
            return
        self.begins(profiler)
        self._times[id(profiler)] = [_core.ticks(), 0]
        if threading.get_ident() == threading.main_thread().ident and not self._logging:
            self._logging = True
            log_lines(0, None)

    def stops(self, profiler: Any) -> None:
        if id(profiler) in self._times:
            self._times[id(profiler)][1] = _core.ticks()
        if self._logging and not self._current.is_working:
            self._logging = False
            _core.lines_log(0)

    def ended(self, profiler: Any, *_args: Any, **_kwargs: Any) -> None:
        self._at_work.discard(id(profiler))
        self._current.foreign = len(self._at_work)

    def exported(self, profiler: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        """The script has written a trace."""
        times = self._times.pop(id(profiler), None)
        if self._current.is_working or times is None:
            return
        if self._traces.adopt(lambda: os.fspath(path), *times):
            self._windows.adopted()
