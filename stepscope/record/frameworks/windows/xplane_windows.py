"""When a window of TensorFlow's or JAX's operators opens and closes.

By default after the fifth step, for some steps, and again later if both together stay in the
budget. `--ops 10:20` names the steps, `--ops all` begins with the first work. Only steps in which
the framework itself has trained count: importing it for something else costs nothing.

An update that the script writes by hand is a step that nothing reports. If ten gradients have been
taken and no step was reported, each gradient counts as one.
"""

import atexit
import os
import time
from collections.abc import Callable
from typing import Final

from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.windows import window_slot
from stepscope.record.frameworks.windows.schedule import Schedule
from stepscope.record.frameworks.windows.xplane_window import XplaneProfiler, XplaneWindow
from stepscope.signal_handlers import let_pass

_LONGEST_NS: Final = 10_000_000_000  # a window that lasts longer is closed at the next step
_CUT: Final = "Operators were recorded for 10 s only: --ops asks for more."
_MANY_UNREPORTED: Final = 10  # gradients


class XplaneWindows:
    """A failure here ends the windows and is noted in the run: it never reaches the training.

    `least_steps`: how many steps a default window should have, asked when it opens.
    """

    def __init__(
        self,
        recording: RunningRecording,
        profiler: XplaneProfiler,
        least_steps: Callable[[], int],
    ) -> None:
        self.recording = recording
        self._profiler = profiler
        self._least_steps = least_steps
        self._schedule = Schedule(
            recording.options.ops,
            recording.options.budget_share,
            time.monotonic_ns,
            named_steps_settle=False,
        )
        self._unreported = 0  # gradients, while no step was reported; -1: steps are reported
        self._pid = os.getpid()
        self._window: XplaneWindow | None = None
        self._opened_at = 0  # after that step
        self._kept = 0  # windows
        self._has_worked = False
        self.foreign = 0  # the script's own profilers that are running: ours must not run then
        self.is_working = False  # on our own window

    # --- what happens in the training ------------------------------------------------------------

    def worked(self) -> None:
        """The framework trains in this step."""
        self._has_worked = window_slot.others_have_worked = True
        schedule = self._schedule
        is_first = schedule.step == 0 and self._window is None and not schedule.is_default
        if is_first and schedule.begins_at_once:
            self._guarded(self._open_next)
        if self._unreported >= 0:
            self._unreported += 1
            if self._unreported > _MANY_UNREPORTED:
                self._step_ended(self._unreported)

    def compiled(self) -> None:
        self._schedule.compiled()

    def step_ended(self, step: int) -> int | None:
        """Returns the next step to be called for."""
        if self._unreported > _MANY_UNREPORTED:
            self._guarded(self.close)  # it has the wrong steps
        self._unreported = -1
        self._step_ended(step)
        return self._schedule.look_again_at() if self._window is None else None

    def _step_ended(self, step: int) -> None:
        has_worked, self._has_worked = self._has_worked, False
        if os.getpid() != self._pid:
            return
        self._schedule.step = step
        if has_worked or self._window is not None:
            self._guarded(self._after_step)

    def make_way(self) -> None:
        """The script's own profiler is about to begin."""
        self._guarded(lambda: self.close(keep=False))

    def adopted(self) -> None:
        """The script's own profiler has recorded what ours would have."""
        if self._schedule.is_default:
            self._schedule.enough()

    def end_window(self) -> None:
        """Where it cannot continue: before a fork."""
        self._guarded(self.close)

    def finish(self) -> None:
        """A window in which no step has ended adds nothing to an earlier one."""
        self._schedule.enough()
        window_slot.others_have_worked = False
        is_empty = self._schedule.step == self._opened_at and self._kept > 0
        self._guarded(lambda: self.close(keep=not is_empty))

    # --- what follows from it --------------------------------------------------------------------

    def _after_step(self) -> None:
        schedule = self._schedule
        if self._window is not None:
            is_last = schedule.is_last_step()
            is_long = schedule.now_ns() - schedule.opened_ns > _LONGEST_NS
            if is_last or is_long:
                self.close()
            if is_long and not is_last and not schedule.is_default:
                self.recording.note(_CUT)
        elif schedule.is_time():
            self._open_next()

    def _open_next(self) -> None:
        danger = self._profiler.danger()
        if danger is not None:
            self._schedule.enough()
            self.recording.note(f"Operators are not recorded: {danger}")
        elif self._schedule.begin_next(lambda wanted: max(wanted, self._least_steps())):
            self._open()

    def _open(self) -> None:
        if self._window is not None or self.foreign or not window_slot.is_free():
            return
        before_ns = self._schedule.now_ns()
        window = XplaneWindow(self._profiler, self.recording.folder())
        self.is_working = True
        try:
            window.open()
        finally:
            self.is_working = False
        self._window, self._opened_at = window, self._schedule.step
        window_slot.take(self)
        self._schedule.done()
        self._schedule.opened(before_ns)
        atexit.register(self._close_at_exit)  # runs before the recording's own

    def close(self, *, keep: bool = True) -> None:
        """Also before a fork and at the exit. Does nothing without an open window."""
        if self._window is None or os.getpid() != self._pid:
            return
        window, self._window = self._window, None
        atexit.unregister(self._close_at_exit)
        before_ns = self._schedule.now_ns()
        self.is_working = True
        try:
            window.close(keep=keep)
            self._kept += keep
        finally:
            self.is_working = False
            window_slot.give_back(self)
            self._schedule.closed(before_ns)

    def _close_at_exit(self) -> None:
        self._guarded(self.close)

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            let_pass(error)
            self._schedule.give_up()
            self.recording.note(f"Operators are not recorded: {error!r}")
