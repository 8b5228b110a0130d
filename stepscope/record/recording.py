"""A recording of this process: what is switched on at its start and taken away at its stop."""

import atexit
import builtins
import functools
import gc
import os
import sys
import time
from collections.abc import Callable
from types import CodeType
from typing import Any, Final, ParamSpec, TypeVar

from stepscope.launch.options import RecordOptions
from stepscope.launch.secrets import mask_command
from stepscope.native import _core
from stepscope.record import frameworks
from stepscope.record.bytecode import originals
from stepscope.record.code.code_table import CodeEntry, table
from stepscope.record.code.user_code import UserCode
from stepscope.record.engines import calls, decorator, lines
from stepscope.record.engines.calibrate import measure_event_cost, ns_to_ticks
from stepscope.record.frameworks.watching import recording_times
from stepscope.record.names import function_names, thread_names
from stepscope.record.names.opened_files import OpenedFiles
from stepscope.record.steps import limits, marks, pace
from stepscope.store import format as fmt
from stepscope.store.writer import Names, keep_source, write_json

HEARTBEAT_MS: Final = 10

P = ParamSpec("P")
R = TypeVar("R")

current: "Recording | None" = None


def start(
    run_folder: str, options: RecordOptions, role: str = "main", rank: int | None = None
) -> "Recording":
    """Begin to record this process into a folder of its own below `run_folder`."""
    global current
    if current is not None:
        raise RuntimeError("This process is being recorded already.")
    current = Recording(run_folder, options, role, rank)
    try:
        current.start()
    except BaseException:
        stop()
        raise
    return current


def stop(status: str = "stopped") -> None:
    """End the recording of this process; what it recorded stays. Safe to call twice."""
    global current
    recording, current = current, None
    if recording is not None:
        recording.stop(status)


@functools.cache  # at-fork handlers cannot be removed: one for the process's life
def _watch_forks() -> None:
    os.register_at_fork(before=_core.heartbeat_pause, after_in_parent=_core.heartbeat_resume_soon)


def _stop_at_exit() -> None:
    stop("ended")


class Recording:
    """One process's recording. `start` and `stop` undo each other, in reverse order."""

    def __init__(
        self, run_folder: str, options: RecordOptions, role: str, rank: int | None
    ) -> None:
        self.run_folder = os.path.abspath(run_folder)
        self.options = options
        self._role = role
        self._rank = rank
        self._users = UserCode(options.include, options.exclude, options.packages, self.run_folder)
        self._undo: list[Callable[[], object]] = []
        self._file_ids: dict[str, int] = {}
        self._noted: set[str] = set()
        self._calls: calls.Calls | None = None
        self._pid = os.getpid()

    # --- start and stop --------------------------------------------------------------------------

    def start(self) -> None:
        self._cost = measure_event_cost()
        self.folder = self._make_folder()
        self._names = Names(self.folder)
        self._name_ids: dict[str, int] = {}
        self._undo.append(self._names.close)
        self._files = OpenedFiles(self._names)
        table.on_new = self._name_code
        self._undo.append(self._forget_names)
        for entry in table.entries:
            self._name_code(entry)
        self._start_hooks()  # before the storage: its first event asks for the thread's name
        _core.storage_open(self.folder, self.options.max_bytes, self.options.calls)
        self._undo.append(self._close_storage)
        self._call_ns = calls.measure_cost_ns() if self.options.calls else 0.0
        self._describe()
        _core.counters()
        lines.on_trouble = self.note_once
        lines.engine_enable()
        self._undo.append(lines.engine_disable)
        self._start_limits()
        _watch_forks()
        self._start_heartbeat()
        self._undo.append(_core.heartbeat_stop)
        atexit.register(_stop_at_exit)
        self._undo.append(lambda: atexit.unregister(_stop_at_exit))
        recording_times.begin(
            recording_times.Recording(
                self.options, lambda: self.folder, self.note_once, self._turned_out_as_rank
            )
        )
        self._undo.append(recording_times.end)
        self._start_calls()  # last: our own start is none of the script's calls

    def stop(self, status: str) -> None:
        if os.getpid() != self._pid:
            return  # a forked child in which nothing was recorded: all this is its parent's
        self._status = status
        while self._undo:
            try:
                self._undo.pop()()
            except Exception as error:  # the training goes on, whatever we could not tidy up
                _complain(f"could not tidy up after recording: {error!r}")

    def _start_hooks(self) -> None:
        _core.hooks_start(
            on_code=self._guarded(self._see_code),
            on_open=self._guarded(self._files.name_of),
            on_thread=self._guarded(self._name_thread),
            on_fork=self._guarded(self._forked),
            on_name=self._guarded(self._name),
            on_import=self._guarded(_imported),
            on_exit=self._guarded(_stop_at_exit),
            watched=originals.WATCHED | frameworks.WATCHED,
        )
        self._undo.append(_core.hooks_stop)
        _core.functions_hook(self._guarded(function_names.namer(self._names)))
        self._undo.append(lambda: _core.functions_hook(None))
        originals.install(_core.original_code)
        self._undo.append(originals.uninstall)
        gc.callbacks.append(_core.gc_callback)
        self._undo.append(lambda: gc.callbacks.remove(_core.gc_callback))
        marks.name_id = self._name
        self._undo.append(_no_marks)
        pace.reset()
        self._undo.append(pace.reset)
        frameworks.install(self.note_once)
        self._undo.append(frameworks.uninstall)
        self._offer_profile()

    def _offer_profile(self) -> None:
        """`@profile` without an import, as kernprof offers it; a script's own name wins."""
        if hasattr(builtins, "profile"):
            return
        builtins.profile = decorator.profile  # type: ignore[attr-defined]  # the point is to add it
        self._undo.append(_take_back_profile)

    def _start_calls(self) -> None:
        if self.options.calls:
            self._calls = calls.Calls(self._users.is_users, self.note_once)
            self._undo.append(self._calls.stop)
            self._calls.start()

    def _start_limits(self) -> None:
        if not limits.StepLimits.wanted(self.options):
            return
        steps = limits.StepLimits(self.options, stop)
        pace.listen(steps.step_ended)
        _core.on_stamp(steps.loop_turned)
        self._undo.append(lambda: _core.on_stamp(None))

    def _start_heartbeat(self) -> None:
        _core.heartbeat_start(
            HEARTBEAT_MS,
            self.options.budget_share,
            self._cost.line_ns,
            not self.options.exact,
            self._second_passed,
        )

    def _second_passed(self) -> None:
        after = self.options.stop_after_s
        if after is not None and self._elapsed_s() >= after:
            stop()

    def _elapsed_s(self) -> float:
        return (time.time_ns() - self._started_realtime_ns) / 1e9

    # --- the process's folder -------------------------------------------------------------------

    def _make_folder(self) -> str:
        """proc-<rank>-<host>-<pid>; a process that became another program (exec) gets one more."""
        base = f"proc-{self._rank or 0}-{os.uname().nodename}-{os.getpid()}"
        for attempt in range(1, 1000):
            name = base if attempt == 1 else f"{base}.{attempt}"
            folder = os.path.join(self.run_folder, name)
            try:
                os.makedirs(folder)
                return folder
            except FileExistsError:
                continue
        raise OSError(f"{self.run_folder} has a thousand folders for process {os.getpid()}")

    def _describe(self) -> None:
        self._started_realtime_ns = time.time_ns()
        self._pid = os.getpid()
        self._about: dict[str, Any] = {
            "format": fmt.FORMAT_VERSION,
            "role": self._role,
            "rank": self._rank,
            "pid": os.getpid(),
            "parent_pid": os.getppid(),
            "host": os.uname().nodename,
            "python": sys.version.split()[0],
            "argv": mask_command(sys.orig_argv),
            "started_realtime_ns": self._started_realtime_ns,
            "process_start_realtime_ns": process_start_realtime_ns(),
            "ticks_per_ns": _core.ticks_per_ns(),
            "event_cost_ticks": ns_to_ticks(self._cost.line_ns),
            "exit_cost_ticks": ns_to_ticks(self._cost.exit_ns),
            "call_cost_ticks": ns_to_ticks(self._call_ns),
            "status": "running",
            "ended_ticks": None,
        }
        write_json(os.path.join(self.folder, fmt.PROCESS_FILE), self._about)

    def _turned_out_as_rank(self, rank: int) -> None:
        """A launcher may tell by the environment who is which rank, but not all of them do."""
        if self._pid != os.getpid():
            return  # a forked child that recorded nothing yet
        self._role = "rank" if self._role == "worker" else self._role
        self._rank = rank
        os.environ["STEPSCOPE_RANK"] = str(rank)  # of those below it, too
        self._about |= {"role": self._role, "rank": rank}
        write_json(os.path.join(self.folder, fmt.PROCESS_FILE), self._about)

    def _close_storage(self) -> None:
        ended = _core.ticks()
        _core.counters()
        states = _core.storage_states()
        for stream, (_, state) in zip(("events", "lines", "calls"), states, strict=False):
            if state != fmt.StreamState.GROWING:
                self._names.note(f"{stream} stopped: {_STOPPED[fmt.StreamState(state)]}.")
        if self._names.lost:
            self._names.note(f"{self._names.lost} names could not be written.")
        _core.storage_close()
        lines.go_on_in_memory()
        self._about["status"] = self._status
        self._about["ended_ticks"] = ended
        write_json(os.path.join(self.folder, fmt.PROCESS_FILE), self._about)

    def _forked(self) -> None:
        """In a forked child, at its first event: a folder of its own, the same names."""
        self._role = "worker"
        self.folder = self._make_folder()
        self._names.move_to(self.folder)
        _core.storage_open(self.folder, self.options.max_bytes, self.options.calls)
        self._describe()
        _core.counters()
        self._start_heartbeat()

    def _guarded(self, function: Callable[P, R]) -> Callable[P, R | None]:
        """The native core drops what its hooks raise; here it becomes a note in the run, once."""

        def call(*args: P.args, **keywords: P.kwargs) -> R | None:
            try:
                return function(*args, **keywords)
            except Exception as error:
                self.note_once(f"Recording lost something in {function.__name__}: {error!r}")
                return None

        return call

    def note_once(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._names.note(text)

    # --- what the native core asks --------------------------------------------------------------

    def _see_code(self, code: CodeType) -> CodeType | None:
        """A code object is about to run: the user's is recorded."""
        if self._calls is not None:
            self._calls.see(code)
        if not self._users.is_users(code.co_filename):
            return None
        return lines.register_code(code, exact=self.options.exact)

    def _name(self, text: str) -> int:
        """Asked for several times in a step, so it has a short way."""
        number = self._name_ids.get(text, 0)
        if not number:
            number = self._name_ids[text] = self._names.intern("name", name=text)
        return number

    def _name_thread(
        self, ident: int | None = None, native: int | None = None, is_pythons: bool = False
    ) -> int:
        return thread_names.name_thread(self._names, ident, native, is_pythons=is_pythons)

    def _name_code(self, entry: CodeEntry) -> None:
        code = entry.code
        self._names.add(
            "code",
            entry.id,
            file=self._file_id(code.co_filename),
            function=code.co_qualname,
            first_line=entry.first_line,
            lines=entry.line_count,
            kind=entry.kind,
        )
        for loop, number in zip(entry.loops, entry.loop_ids, strict=False):
            parent = None if loop.parent is None else entry.loop_ids[loop.parent]
            self._names.add(
                "loop",
                number,
                code=entry.id,
                line=loop.line,
                last_line=loop.last_line,
                parent=parent,
            )

    def _file_id(self, filename: str) -> int:
        number = self._file_ids.get(filename)
        if number is None:
            path = os.path.abspath(filename) if filename[:1] != "<" else filename
            source = keep_source(self.run_folder, path)
            number = self._file_ids[filename] = self._names.add("file", path=path, source=source)
        return number

    def _forget_names(self) -> None:
        table.on_new = None


_STOPPED: Final = {
    fmt.StreamState.FULL: "it reached its share of --max-size",
    fmt.StreamState.REFUSED: "the file system has no space left",
}


def _imported(name: str) -> None:
    originals.patch(name)
    frameworks.watch(name)


def _no_marks() -> None:
    marks.name_id = None


def _take_back_profile() -> None:
    if hasattr(builtins, "profile"):
        del builtins.profile


def _complain(text: str) -> None:
    print(f"stepscope: {text}", file=sys.stderr)


def process_start_realtime_ns() -> int | None:
    """When the kernel started this process."""
    try:
        with open("/proc/self/stat", "rb") as file:
            after_name = file.read().rpartition(b")")[2].split()
        started_s = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        return time.time_ns() - int((time.clock_gettime(time.CLOCK_BOOTTIME) - started_s) * 1e9)
    except (OSError, ValueError, IndexError, AttributeError):
        return None
