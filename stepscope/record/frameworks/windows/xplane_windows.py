"""When a window of TensorFlow's or JAX's operators opens and closes.

By default after the fifth step, for some steps, and once more later if both together stay in the
budget. `--ops 10:20` names the steps, `--ops all` begins with the first work. Only steps in which
the framework itself has trained count: who imports it for something else pays nothing.

An update that the script writes by hand is a step that nobody tells. Where ten gradients have
been taken and none was told, each gradient counts as one.
"""

import atexit
import os
import shutil
import time
from collections.abc import Callable
from typing import Final

from stepscope.record.frameworks.torch.window import mark
from stepscope.record.frameworks.torch.windows import SHARE_OF_BUDGET, Stretch, stretches_of
from stepscope.record.frameworks.watching import recording_times
from stepscope.record.frameworks.windows import one_window
from stepscope.record.frameworks.windows.xplane_window import (
    XplaneProfiler,
    XplaneWindow,
    next_path,
)

_LONGEST_NS: Final = 10_000_000_000  # a window that lasts longer is closed at the next step
_CUT: Final = "Operators were recorded for 10 s, not to the end of what --ops asks for."
_SETTLED_STEPS: Final = 3  # without a compilation
_LARGEST_BYTES: Final = 256 * 2**20
_MOST_ADOPTED: Final = 4  # traces of the script's own that are kept
_UNTOLD: Final = 10  # gradients


class XplaneWindows:
    """What fails here ends the windows and is told in the run: it never reaches the training.

    `least_steps`: how many steps a default window is to have, asked when it opens.
    """

    def __init__(
        self,
        recording: recording_times.Recording,
        profiler: XplaneProfiler,
        least_steps: Callable[[], int],
    ) -> None:
        self.recording = recording
        self._profiler = profiler
        self._least_steps = least_steps
        self._stretches = stretches_of(recording.options.ops)
        self._is_default = recording.options.ops == "auto"
        self._pid = os.getpid()
        self._window: XplaneWindow | None = None
        self._step = 0
        self._last_step: int | None = None  # of the window; None: no step ends it
        self._began_ns = time.monotonic_ns()
        self._opened_at = 0  # after that step
        self._kept = 0  # windows
        self._opened_ns = 0
        self._spent_ns = 0
        self._has_worked = False
        self._worked = 0  # how often, while no step was told; -1: steps are told
        self._compiled_at = -_SETTLED_STEPS
        self._adopted = 0
        self.foreign = 0  # profilers of the script's own that are at work: none of ours beside them
        self.is_working = False  # at our own one

    # --- what happens in the training ------------------------------------------------------------

    def worked(self) -> None:
        """The framework trains in this step."""
        self._has_worked = one_window.others_have_worked = True
        is_first = self._step == 0 and self._window is None and not self._is_default
        if is_first and self._stretches and self._stretches[0].after == 0:
            self._guarded(self._open_next)
        if self._worked >= 0:
            self._worked += 1
            if self._worked > _UNTOLD:
                self._step_ended(self._worked)

    def compiled(self) -> None:
        self._compiled_at = self._step

    def step_ended(self, step: int) -> None:
        if self._worked > _UNTOLD:
            self._guarded(self.close)  # it has the wrong steps
        self._worked = -1
        self._step_ended(step)

    def _step_ended(self, step: int) -> None:
        has_worked, self._has_worked = self._has_worked, False
        if os.getpid() != self._pid:
            return
        self._step = step
        if has_worked or self._window is not None:
            self._guarded(self._after_step)

    def make_way(self) -> None:
        """The script's own profiler is about to begin."""
        self._guarded(lambda: self.close(keep=False))

    def end_window(self) -> None:
        """Where it cannot go on: before a fork."""
        self._guarded(self.close)

    def finish(self) -> None:
        """A window that no step has ended in tells nothing that an earlier one has not."""
        self._stretches.clear()
        one_window.others_have_worked = False
        is_empty = self._step == self._opened_at and self._kept > 0
        self._guarded(lambda: self.close(keep=not is_empty))

    # --- what follows from it --------------------------------------------------------------------

    def _after_step(self) -> None:
        if self._window is not None:
            is_last = self._last_step is not None and self._step >= self._last_step
            is_long = time.monotonic_ns() - self._opened_ns > _LONGEST_NS
            if is_last or is_long:
                self.close()
            if is_long and not is_last and not self._is_default:
                self.recording.note(_CUT)
        elif self._stretches and self._is_time_for(self._stretches[0]):
            self._open_next()

    def _is_time_for(self, stretch: Stretch) -> bool:
        if self._step < stretch.after:
            return False
        if not self._is_default:
            return True
        if self._step < self._compiled_at + _SETTLED_STEPS:
            return False
        if not stretch.if_cheap:
            return True
        elapsed_ns = time.monotonic_ns() - self._began_ns
        share = self.recording.options.budget_share * SHARE_OF_BUDGET
        return 2 * self._spent_ns <= share * elapsed_ns

    def _open_next(self) -> None:
        """The next stretch; one whose steps have gone by while the script profiled is dropped."""
        danger = self._profiler.danger()
        if danger is not None:
            self._stretches.clear()
            self.recording.note(f"Operators are not recorded: {danger}")
            return
        stretch = self._stretches[0]
        self._last_step = None
        if stretch.steps is not None and self._is_default:
            self._last_step = self._step + max(stretch.steps, self._least_steps())
        elif stretch.steps is not None:
            self._last_step = stretch.after + stretch.steps
            if self._step >= self._last_step:
                self._stretches.pop(0)
                return
        self._open()

    def _open(self) -> None:
        if self._window is not None or self.foreign or not one_window.is_free():
            return
        before_ns = time.monotonic_ns()
        window = XplaneWindow(self._profiler, self.recording.folder())
        self.is_working = True
        try:
            window.open(None, 0)
        finally:
            self.is_working = False
        self._window, self._opened_at = window, self._step
        one_window.take(self)
        self._stretches.pop(0)
        self._opened_ns = time.monotonic_ns()
        self._spent_ns += self._opened_ns - before_ns
        atexit.register(self._close_at_exit)  # runs before the recording's own

    def close(self, *, keep: bool = True) -> None:
        """Also before a fork and at the exit. Without one that is open nothing happens."""
        if self._window is None or os.getpid() != self._pid:
            return
        window, self._window = self._window, None
        atexit.unregister(self._close_at_exit)
        before_ns = time.monotonic_ns()
        self.is_working = True
        try:
            window.close(keep=keep)
            self._kept += keep
        finally:
            self.is_working = False
            one_window.give_back(self)
            self._spent_ns += time.monotonic_ns() - before_ns

    def _close_at_exit(self) -> None:
        self._guarded(self.close)

    # --- the script's own ------------------------------------------------------------------------

    def adopt(self, path: str, start_ticks: int, end_ticks: int) -> None:
        """A trace that the script's own profiler wrote: a copy of it is a window of ours."""
        if self._adopted >= _MOST_ADOPTED:
            return
        if os.path.getsize(path) > _LARGEST_BYTES:
            self.recording.note("The script's own trace is over 256 MB: it is left where it is.")
            return
        self._adopted += 1
        ours = next_path(self.recording.folder())
        shutil.copyfile(path, f"{ours}.{os.getpid()}")
        os.replace(f"{ours}.{os.getpid()}", ours)
        mark(ours, start_ticks, end_ticks, is_scripts=True)
        if self._is_default:
            self._stretches.clear()

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            self._stretches.clear()
            self.recording.note(f"Operators are not recorded: {error!r}")
