"""`with stepscope.Profiler("RUN"):` records a block of a running program: notebooks, servers."""

import gc
import os
import sys
from types import CodeType, FunctionType, TracebackType
from typing import Any

from stepscope.errors import InputError
from stepscope.launch import tracker_runs
from stepscope.launch.about import describe_run
from stepscope.launch.options import RecordOptions, is_ops
from stepscope.launch.run_folder import chosen_folder, new_folder, write_run_file
from stepscope.record import recording
from stepscope.record.code.user_code import UserCode
from stepscope.record.engines import decorator, lines


class Profiler:
    """Records between `start` and `stop` (or inside `with`) into its own run folder.

    Options are those of `stepscope run`: exact, include, exclude, budget_share, max_bytes. Inside
    `stepscope run` it does nothing: everything is being recorded already.
    """

    def __init__(self, run: str | None = None, *, force: bool = False, **options: Any) -> None:
        unknown = set(options) - set(RecordOptions().to_json())
        if unknown:
            raise InputError(f"Profiler has no option {sorted(unknown)[0]!r}.")
        self._run = run
        self._force = force
        self._options = RecordOptions.from_json(options)
        if not is_ops(self._options.ops):
            raise InputError(f"ops={self._options.ops!r} names no steps: write '10:20' or True.")
        self._started = False
        self.folder: str | None = None

    def start(self) -> "Profiler":
        if recording.current is not None:
            self.folder = recording.current.run_folder
            return self
        folder = chosen_folder(self._run, force=self._force) if self._run else new_folder(_name())
        write_run_file(folder, describe_run(sys.orig_argv, sys.argv[0], self._options.to_json()))
        recording.start(folder, self._options, "main", None)
        self._started = True
        self.folder = folder
        _take_in_loaded_code(self._options, folder)
        return self

    def stop(self) -> None:
        if self._started:
            self._started = False
            recording.stop()
            if self._options.log and self.folder is not None:
                tracker_runs.hand_over(self.folder)

    def __enter__(self) -> "Profiler":
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def _name() -> str:
    script = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c") else "session"
    return os.path.splitext(os.path.basename(script))[0]


def _take_in_loaded_code(options: RecordOptions, folder: str) -> None:
    """Functions that exist already; on 3.12 and later also the code that is running right now."""
    users = UserCode(options.include, options.exclude, options.packages, folder)
    for function in decorator.waiting:
        lines.register_function(function, exact=True)
    for thing in gc.get_objects():
        if type(thing) is FunctionType and users.is_users(thing.__code__.co_filename):
            lines.register_function(thing, exact=options.exact)
    if lines.HAS_MONITORING:
        for code in _running_code():
            if users.is_users(code.co_filename):
                lines.register_code(code, exact=options.exact)


def _running_code() -> list[CodeType]:
    found = []
    for top in sys._current_frames().values():
        frame = top
        while frame is not None:
            found.append(frame.f_code)
            frame = frame.f_back  # type: ignore[assignment]  # None ends the chain
    return found
