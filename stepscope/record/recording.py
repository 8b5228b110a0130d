"""A recording of this process: what is switched on at its start and removed at its stop."""

import atexit
import builtins
import functools
import gc
import os
import sys
from collections.abc import Callable
from types import CodeType

from stepscope.launch.options import RecordOptions
from stepscope.native import _core
from stepscope.record import frameworks
from stepscope.record.bytecode import originals
from stepscope.record.code.code_table import table
from stepscope.record.code.user_code import UserCode
from stepscope.record.engines import calls, decorator, lines
from stepscope.record.engines.calibrate import measure_event_cost
from stepscope.record.frameworks.watching import running_recording
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.names import function_names, naming
from stepscope.record.names.opened_files import OpenedFiles
from stepscope.record.process_folder import ProcessFolder
from stepscope.record.recorded_names import RecordedNames
from stepscope.record.steps import loop_turns, step_counter
from stepscope.signal_handlers import let_pass, without_our_frames
from stepscope.typed import Any, Final, TypeVar

_GROWING: Final = 0  # StreamState.GROWING
HEARTBEAT_MS: Final = 10  # takes up to 1 % of a pure Python loop, of torch's steps nothing
_FULL_S: Final = 600.0  # after 10 minutes the heart beats a tenth as often

R = TypeVar("R")

current: "Recording | None" = None


def start(
    run_folder: str, options: RecordOptions, role: str = "main", rank: int | None = None
) -> "Recording":
    """Begin to record this process into its own folder below `run_folder`."""
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


@functools.cache  # at-fork handlers cannot be removed: register one per process
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
        self._process = ProcessFolder(self.run_folder, role, rank)
        self._users = UserCode(options.include, options.exclude, options.packages, self.run_folder)
        self._undo: list[Callable[[], object]] = []
        self._calls: calls.Calls | None = None

    # --- start and stop --------------------------------------------------------------------------

    def start(self) -> None:
        self._cost = measure_event_cost()
        self._process.make()
        self._names = RecordedNames(self.run_folder, self._process.path)
        self._undo.append(self._names.close)
        table.on_new = self._names.name_code
        self._undo.append(_forget_names)
        for entry in table.entries:
            self._names.name_code(entry)
        if self.options.include:  # what writes ticks may need the very modules that are recorded
            lines.load_the_rewriter()
        self._start_hooks()  # before the storage: its first event asks for the thread's name
        _core.storage_open(self._process.path, self.options.max_bytes, self.options.calls)
        self._undo.append(self._close_storage)
        self._call_ns = calls.measure_cost_ns() if self.options.calls else 0.0
        self._process.describe(self._cost, self._call_ns)
        _core.counters()
        lines.on_trouble = self._names.note_once
        lines.engine_enable()
        self._undo.append(lines.engine_disable)
        self._start_limits()
        _watch_forks()
        self._start_heartbeat()
        self._undo.append(_core.heartbeat_stop)
        atexit.register(_stop_at_exit)
        self._undo.append(lambda: atexit.unregister(_stop_at_exit))
        self._begin_watching()
        self._undo.append(running_recording.end)
        self._start_calls()  # last: our own start must not count as calls of the script

    def stop(self, status: str) -> None:
        if not self._process.is_this_process:
            return
        self._status = status
        try:
            while self._undo:
                self._undo_last()
        finally:
            if self._undo:  # what a signal handler raised goes on once the rest is undone
                self.stop(status)

    def _undo_last(self) -> None:
        try:
            self._undo.pop()()
        except Exception as error:  # the training continues, whatever we could not tidy up
            let_pass(error)
            _complain(f"could not tidy up after recording: {error!r}")

    def _start_hooks(self) -> None:
        _core.hooks_start(
            on_code=self._guarded(self._see_code),
            on_open=self._guarded(OpenedFiles(self._names).name_of),
            on_thread=self._guarded(self._names.name_thread),
            on_fork=self._guarded(self._forked),
            on_name=self._guarded(self._names.name),
            on_import=self._guarded(frameworks.watch),
            on_exit=self._guarded(_stop_at_exit),
            watched=frameworks.watched(),
        )
        self._undo.append(_core.hooks_stop)
        _core.find_handlers_with(without_our_frames)
        self._undo.append(lambda: _core.find_handlers_with(None))
        _core.functions_hook(self._guarded(function_names.namer(self._names)))
        self._undo.append(lambda: _core.functions_hook(None))
        originals.install()
        self._undo.append(originals.uninstall)
        gc.callbacks.append(_core.gc_callback)
        self._undo.append(lambda: gc.callbacks.remove(_core.gc_callback))
        naming.name_id = self._names.name
        self._undo.append(_forget_namer)
        step_counter.reset()
        self._undo.append(step_counter.reset)
        self._undo.append(loop_turns.reset)
        frameworks.install(self._names.note_once)
        self._undo.append(frameworks.uninstall)
        self._offer_profile()

    def _begin_watching(self) -> None:
        running_recording.begin(
            RunningRecording(
                options=self.options,
                folder=lambda: self._process.path,
                note=self._names.note_once,
                set_rank=self._process.turned_out_as_rank,
            )
        )

    def _offer_profile(self) -> None:
        """`@profile` without an import, as in kernprof; the script's own name wins."""
        if hasattr(builtins, "profile"):
            return
        builtins.profile = decorator.profile  # type: ignore[attr-defined]  # the point is to add it
        self._undo.append(_take_back_profile)

    def _start_calls(self) -> None:
        if self.options.calls:
            self._calls = calls.Calls(self._users.is_users, self._names.note_once)
            self._undo.append(self._calls.stop)
            self._calls.start()

    def _start_limits(self) -> None:
        if not self.options.limits_steps:
            return
        from stepscope.record.steps.limits import StepLimits

        steps = StepLimits(self.options, stop)
        step_counter.listen(steps.step_ended)
        loop_turns.listen(steps.loop_turned)

    def _start_heartbeat(self) -> None:
        try:
            _core.heartbeat_start(
                HEARTBEAT_MS,
                self.options.budget_share,
                self._cost.line_ns,
                not self.options.exact,
                self._second_passed,
                _FULL_S,
                self._cost.exit_ns,
            )
        except RuntimeError as refused:
            let_pass(refused)
            self._names.note(f"No stacks were sampled, and no lines thinned out: {refused}.")

    def _second_passed(self) -> None:
        self._note_other_interpreters()
        after = self.options.stop_after_s
        if after is not None and self._process.elapsed_s >= after:
            stop()

    def _note_other_interpreters(self) -> None:
        if _core.others_ran():
            self._names.note_once("Subinterpreters ran and were not recorded.")

    # --- the storage ----------------------------------------------------------------------------

    def _close_storage(self) -> None:
        ended = _core.ticks()
        _core.counters()
        self._note_other_interpreters()
        states = _core.storage_states()
        for stream, (_, state) in zip(("events", "lines", "calls"), states, strict=False):
            if state != _GROWING:
                self._names.note(f"{stream} stopped: {why_stopped(state)}.")
        if self._names.lost:
            self._names.note(f"{self._names.lost} names could not be written.")
        _core.storage_close()
        lines.go_on_in_memory()
        self._process.ended(self._status, ended)

    def _forked(self) -> None:
        """In a forked child, at its first event: its own folder, the same names."""
        self._process.make_for_fork()
        self._names.move_to(self._process.path)
        _core.storage_open(self._process.path, self.options.max_bytes, self.options.calls)
        self._process.describe(self._cost, self._call_ns)
        _core.counters()
        self._start_heartbeat()

    def _guarded(self, function: Callable[..., R]) -> Callable[..., R | None]:
        """The native core drops errors of its hooks; here they become a note, once. What a signal
        handler of the script raises meanwhile is left to the core, which hands it on."""

        def call(*args: Any, **keywords: Any) -> R | None:
            try:
                return function(*args, **keywords)
            except Exception as error:
                let_pass(error)
                self._names.note_once(f"Recording lost something in {function.__name__}: {error!r}")
                return None

        return call

    # --- what the native core asks --------------------------------------------------------------

    def _see_code(self, code: CodeType) -> CodeType | None:
        """A code object is about to run: the user's is recorded."""
        if self._calls is not None:
            self._calls.see(code)
        if not self._users.is_users(code.co_filename):
            return None
        return lines.register_code(code, exact=self.options.exact)


def why_stopped(state: int) -> str:
    """Loaded when it has happened: the format's enumerations take a millisecond."""
    from stepscope.store.format import StreamState

    return {
        StreamState.FULL: "it reached its share of --max-size",
        StreamState.REFUSED: "the file system has no space left",
        StreamState.LOST: "another program cut the file",
        StreamState.NO_MEMORY: "the limits on the process's memory leave no room for more",
    }[StreamState(state)]


def _forget_names() -> None:
    table.on_new = None


def _forget_namer() -> None:
    naming.name_id = None


def _take_back_profile() -> None:
    if hasattr(builtins, "profile"):
        del builtins.profile


def _complain(text: str) -> None:
    print(f"stepscope: {text}", file=sys.stderr)
