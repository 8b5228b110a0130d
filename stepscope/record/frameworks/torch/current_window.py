"""PyTorch: the open window, if any; it is opened and closed only where torch allows it."""

import atexit
import os
import sys
import threading
import weakref
from typing import Any, Protocol

from stepscope.native import _core
from stepscope.record.frameworks.torch import hook_lists
from stepscope.record.frameworks.torch.quiet_profiler import Quiet
from stepscope.record.frameworks.torch.window import Window, path_in
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.windows import window_slot
from stepscope.record.frameworks.windows.event_meter import Meter
from stepscope.record.frameworks.windows.schedule import Schedule
from stepscope.signal_handlers import let_pass


class Owner(Protocol):
    """Decides when a window opens and closes."""

    def forward_begins(self, module: object) -> None:
        """Called while a window is open."""

    def line_begins(self) -> None:
        """Called at the user's next line after the time at which the window could be full."""

    def end_window(self) -> None:
        """Before a fork."""


class CurrentWindow:
    """Always on the main thread."""

    def __init__(
        self,
        torch: Any,
        recording: RunningRecording,
        schedule: Schedule,
        meter: Meter,
        owner: Owner,
    ) -> None:
        self._torch = torch
        self._recording = recording
        self._schedule = schedule
        self._meter = meter
        self._owner = owner
        self._quiet = Quiet(torch)
        self._pid = os.getpid()
        self._hook: Any = None
        self.window: Window | None = None  # the open one
        self.number = 0  # windows so far
        self.steps = 0  # that ended in the window
        self.optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.is_spoilt = False  # something was compiled in it
        self.is_in_the_way = False  # another thread waits for its end
        self.is_over = False  # the recording ends: no window is opened any more
        self.foreign = 0  # the script's own profilers that are running: ours must not run then
        self.is_working = False  # on our own window
        self.closed = threading.Event()
        self.closed.set()

    def next_path(self) -> str:
        self.number += 1
        return path_in(self._recording.folder(), self.number)

    def open(self) -> bool:
        if self.window is not None or self.foreign or self.is_over or not self.is_here():
            return False
        if not window_slot.is_free():
            return False
        before_ns = self._schedule.now_ns()
        path = path_in(self._recording.folder(), self.number + 1)
        window = Window(self._torch, self._quiet, path)
        self.is_working = True
        try:
            window.open(self._owner.line_begins, self.look_again_ticks(), self._tensors())
        finally:
            self.is_working = False
        self.number += 1
        self.window, self.steps = window, 0
        _core.on_forward(self._owner.forward_begins)
        window_slot.take(self._owner)
        self._schedule.opened(before_ns)
        self.closed.clear()
        atexit.register(self.close)  # runs before the recording's own
        return True

    def close(self, *, keep: bool = True) -> None:
        """Also at the exit. Does nothing without an open window."""
        if self.window is None or not self.is_here():
            return
        window, self.window = self.window, None
        keep, self.is_spoilt = keep and not self.is_spoilt, False
        atexit.unregister(self.close)
        before_ns = self._schedule.now_ns()
        lasted_ns = before_ns - self._schedule.opened_ns
        self.is_working = True
        try:
            window.close(keep=keep)
        finally:
            self.is_working = False
            self.closed.set()
            window_slot.give_back(self._owner)
            self._schedule.closed(before_ns)
        if keep:
            self._meter.closed(window.events, lasted_ns, self.steps)

    def discard(self) -> None:
        self.close(keep=False)

    def discard_at_next_step(self) -> None:
        """A window that could not be closed from where the recording ended."""
        if self.window is not None:
            module = sys.modules["torch.optim.optimizer"]  # torch.optim hides the name
            self._hook = module.register_optimizer_step_post_hook(self._discard_at_last)

    def _discard_at_last(self, *_args: Any) -> None:
        if not compiled_graphs.is_compiling() and self.is_here():
            hook_lists.take_out(self._hook)
            try:
                self.discard()
            except Exception as error:  # the recording is over: notes go nowhere
                let_pass(error)

    def is_full(self) -> bool:
        elapsed_ns = self._schedule.now_ns() - self._schedule.opened_ns
        is_full = self.is_in_the_way or self._meter.is_full(elapsed_ns, self.steps)
        return is_full and self.is_here()

    def look_again_ticks(self) -> int:
        """When it could be full, at the earliest."""
        is_open = self.window is not None
        elapsed_ns = self._schedule.now_ns() - self._schedule.opened_ns if is_open else 0
        return _core.ticks() + int(self._meter.time_left_ns(elapsed_ns) * _core.ticks_per_ns())

    def is_here(self) -> bool:
        """Whether a window may be opened or closed here. During backward torch sets the thread's
        state aside, and restores it after changes there."""
        is_main_thread = threading.get_ident() == threading.main_thread().ident
        is_outside = is_main_thread and self._torch._C._current_graph_task_id() < 0
        return is_outside and self.is_this_process()

    def is_this_process(self) -> bool:
        return os.getpid() == self._pid

    def _tensors(self) -> int:
        groups = [group for each in list(self.optimizers) for group in each.param_groups]
        return sum(len(group["params"]) for group in groups)
