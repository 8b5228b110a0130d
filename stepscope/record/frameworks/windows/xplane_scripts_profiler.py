"""TensorFlow and JAX: the script's own profiler goes first, and we take over its trace.

Ours ends before theirs begins, and none opens until theirs has ended: starting a second one at the
same time raises.
"""

import os
import time
from collections.abc import Callable, Iterable
from typing import Any

from stepscope.native import _core
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import watched
from stepscope.record.frameworks.windows.scripts_traces import ScriptsTraces
from stepscope.record.frameworks.windows.xplane_window import next_path, xplanes_in
from stepscope.record.frameworks.windows.xplane_windows import XplaneWindows
from stepscope.record.names import naming


class ScriptsOwn:
    """`is_running`: whether the framework's profiler is running, apart from ours."""

    def __init__(self, windows: XplaneWindows, is_running: Callable[[], bool]) -> None:
        self._windows = windows
        self._is_running = is_running
        self._traces = ScriptsTraces(
            windows.recording, lambda: next_path(windows.recording.folder())
        )
        self._folder: str | None = None
        self._began_ticks = 0
        self._began_s = 0.0

    def around(
        self,
        patches: Patches,
        owners: Iterable[Any],
        name: str,
        function: Any,
        before: Callable[..., None] | None,
        after: Callable[..., None] | None = None,
    ) -> None:
        """In every place that has the function, except for our own calls. `after` gets the time of
        the call, in ticks."""

        def begins(*args: Any, **kwargs: Any) -> int | None:
            if self._windows.is_working:
                return None
            called_ticks = _core.ticks()
            if before is not None:
                before(*args, **kwargs)
            return called_ticks

        def ended(called_ticks: int, _result: Any) -> None:
            if after is not None:
                after(called_ticks)

        patches.set_everywhere(owners, name, function, watched(function, begins, ended))

    def starts(self, folder: Any = None, *_args: Any, **keywords: Any) -> None:
        if self._windows.foreign:
            return  # the framework is about to raise: there is one already
        self._windows.make_way()
        self._windows.foreign = 1
        folder = keywords.get("log_dir", keywords.get("logdir", folder))
        self._folder = os.fspath(folder) if isinstance(folder, str | os.PathLike) else None
        self._began_ticks, self._began_s = _core.ticks(), time.time()

    def started(self, _called_ticks: int) -> None:
        """Or failed to."""
        if not self._is_running():
            self._windows.foreign = 0

    def stopped(self, called_ticks: int) -> None:
        if self._is_running():
            return
        self._windows.foreign = 0
        folder, self._folder = self._folder, None
        if folder is None or naming.name_id is None:
            return
        if self._traces.adopt(lambda: self._newest_in(folder), self._began_ticks, called_ticks):
            self._windows.adopted()

    def _newest_in(self, folder: str) -> str | None:
        new = [path for path in xplanes_in(folder) if os.path.getmtime(path) >= self._began_s]
        return max(new, key=os.path.getmtime, default=None)

    def serves(self, *_args: Any, **_keywords: Any) -> None:
        """A client that asks the server for a profile must not find our profiler running."""
        self._windows.finish()
        self._windows.recording.note(
            "Operators are not recorded: the script runs a profiler server."
        )
