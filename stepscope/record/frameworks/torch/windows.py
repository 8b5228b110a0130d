"""When a window of operators opens and closes.

By default from the first forward to the end of the first step, or a few calls of the same module,
for scripts that have no more than that: it is forgotten when a second step comes. Then three steps
after the fifth, and three more once both together stay in the budget. `--ops 10:20` names the
steps, `--ops all` begins at once. A window that may be full is closed, which tells how full it is;
another one uses the room left.
"""

import atexit
import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stepscope.native import _core
from stepscope.record.frameworks.torch import hook_lists
from stepscope.record.frameworks.torch.event_meter import Meter
from stepscope.record.frameworks.torch.quiet_profiler import Quiet
from stepscope.record.frameworks.torch.window import MOST_LINES, Window
from stepscope.record.frameworks.watching import compiled_graphs, recording_times
from stepscope.record.frameworks.windows import one_window
from stepscope.record.steps import pace

_LEAST_ROOM: Final = 1_000  # events: less is not worth another window
_SETTLED_STEPS: Final = 3  # without a compilation
_TURNS: Final = 5  # of the module that began a probe, then it has seen enough
_TURNS_BETWEEN: Final = 20  # and another one comes, after warm-up
_LEAST_PROBE_NS: Final = 50_000_000
_IDLE_STEPS: Final = 10  # between looks whether another window is cheap by now
SHARE_OF_BUDGET: Final = 1 / 6  # for windows: hooks and samples want theirs


class Stretch(NamedTuple):
    """Steps to record."""

    after: int  # that many steps have ended
    steps: int | None = None  # None: to the end
    if_cheap: bool = False


_DEFAULT: Final = (Stretch(after=5, steps=3), Stretch(after=25, steps=3, if_cheap=True))


def stretches_of(ops: str) -> list[Stretch]:
    """From the option --ops."""
    first, colon, last = ops.partition(":")
    if colon:
        return [Stretch(after=int(first) - 1, steps=int(last) - int(first) + 1)]
    return [Stretch(after=0)] if ops == "all" else list(_DEFAULT)


class Windows:
    """All of it on the main thread. What fails here ends the windows and is told in the run: it
    never reaches the training."""

    def __init__(self, torch: Any, recording: recording_times.Recording) -> None:
        self._torch = torch
        self.recording = recording
        self._quiet = Quiet(torch)
        self._meter = Meter()
        self._pid = os.getpid()
        self._began_ns = time.monotonic_ns()
        self._spent_ns = 0
        self._stretches = stretches_of(recording.options.ops)
        self._is_default = recording.options.ops == "auto"
        self._window: Window | None = None
        self._opened_ns = 0
        self._number = 0  # windows so far
        self._steps = 0  # that ended in the window
        self._step = 0  # of the training
        self._last_step: int | None = None  # of the window; None: no step ends it
        self._probes: list[Window] = []  # of a script that may have no steps
        self._first_module = 0  # the one that was called when the probe began: its id
        self._turns = 0  # its calls since the probe was opened or closed
        self._is_after_warmup = False  # the probe
        self._is_due = False  # a step ended where no window can be opened or closed
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._hook: Any = None
        self._is_used = False  # something of torch's has run
        self._is_over = False
        self._is_in_the_way = False  # somebody waits on another thread
        self._has_compiled = False
        self._compiled_at = -_SETTLED_STEPS  # the step of the last compilation
        self._is_spoilt = False  # the window: something was compiled in it
        self.foreign = 0  # profilers of the script's own that are at work: none of ours beside them
        self.is_working = False  # at our own one
        self.closed = threading.Event()
        self.closed.set()

    # --- what happens in the training ------------------------------------------------------------

    def begin(self) -> None:
        if self.recording.options.ops == "all":
            self._guarded(self._open_next)

    @compiled_graphs.are_not_for
    def forward_begins(self, module: object) -> None:
        """The outermost module is called."""
        self._is_used = True
        self._turns += id(module) == self._first_module
        if self._is_due and self._is_here():
            self._is_due = False
            self._guarded(self._after_step)
        elif self._window is not None:
            if self._is_full():
                self._guarded(self._go_on_in_another)
            elif self._window in self._probes and self._has_seen_enough() and self._is_here():
                self._turns = 0
                self._guarded(self.close)
        elif self._step == 0 and self._is_here():
            self._first_forwards(module)

    def _first_forwards(self, module: object) -> None:
        """No step has ended so far."""
        if self._is_default and not self._has_compiled:
            is_later = self._turns == _TURNS_BETWEEN and not self._is_after_warmup
            if self._number == 0 or is_later:
                self._first_module, self._turns = id(module), 0
                self._is_after_warmup = is_later
                self._guarded(self._open_probe)
        elif self._number == 0 and self._stretches and self._stretches[0].after == 0:
            self._guarded(self._open_next)

    def _has_seen_enough(self) -> bool:
        """Of a script whose updates nobody tells: the module that began the probe is called again
        and again. In some that is a cell, and hundreds of calls make a step."""
        lasted_ns = time.monotonic_ns() - self._opened_ns
        return self._turns >= _TURNS and lasted_ns >= _LEAST_PROBE_NS

    @compiled_graphs.are_not_for
    def optimizer_stepped(self, optimizer: Any) -> None:
        self._is_used = True
        with contextlib.suppress(TypeError):  # one that compares by value may not be hashable
            self._optimizers.add(optimizer)
        if self._probes and self._window is self._probes[-1] and self._is_here():
            self._steps = 1
            self._guarded(self.close)

    def close_later(self) -> None:
        """A window that could not be closed from where the recording ended."""
        if self._window is not None:
            module = sys.modules["torch.optim.optimizer"]  # torch.optim hides the name
            self._hook = module.register_optimizer_step_post_hook(self._close_at_last)

    def _close_at_last(self, *_args: Any) -> None:
        if not compiled_graphs.is_compiling() and self._is_here():
            self._guarded(self._discard)
            hook_lists.take_out(self._hook)

    def step_ended(self, step: int) -> int | None:
        """Returns which one to be told of next."""
        self._step = step
        self._steps += 1
        if self._window is None and not self._probes and not self._is_next():
            return self._rest()
        if self._is_used or self._may_be_ours():
            self._step_counts()
        return None

    def _rest(self) -> int | None:
        if self._stretches and not self._stretches[0].if_cheap:
            return None  # it waits for one step in particular
        _core.on_forward(None)
        return self._step + _IDLE_STEPS

    def _step_counts(self) -> None:
        if self._is_here():
            self._guarded(self._after_step)
        elif self._is_main_thread():  # in the middle of backward: at the next forward then
            self._is_due = True
            _core.on_forward(self.forward_begins)
        elif os.getpid() == self._pid:
            self.recording.note(
                "Operators are not recorded: the training runs on another thread than the main."
            )

    def compilation_begins(self, _args: Any = None) -> None:
        """It runs tens of thousands of operators on tensors without content. The window is not to
        be closed here: torch puts back the thread's state afterwards, and would open it again."""
        self._is_spoilt = self._window is not None
        self._compiled_at = self._step

    @compiled_graphs.are_not_for
    def compiles(self) -> None:
        """The script wants something compiled: the first forward will be that."""
        self._has_compiled = True

    def _line_begins(self) -> None:
        """The user's next line after the time at which the window could be full."""
        if self._window is None or not self._is_here():
            return
        if self._is_full():
            self._guarded(self._go_on_in_another)
        else:
            _core.lines_log(MOST_LINES, self._look_again_ticks(), self._line_begins)

    def make_way(self, patience_s: float) -> None:
        """The script's own profiler is about to begin."""
        if self._window is None:
            return
        if self._is_here():
            self._guarded(self._discard)
        elif os.getpid() == self._pid:
            self._is_in_the_way = True
            self.closed.wait(patience_s)

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def adopted(self) -> None:
        """The script's own profiler has told what ours would have."""
        if self._is_default:
            self._stretches.clear()
            self._forget_probes()

    def end_window(self) -> None:
        """Before a fork."""
        self._guarded(self.close)

    def finish(self) -> None:
        """The recording is about to end. On another thread the window stays open until the next
        step, or the exit."""
        self._is_over = True
        self._guarded(self.close)

    # --- what follows from it --------------------------------------------------------------------

    def _after_step(self) -> None:
        if self._probes:
            self._forget_probes()
        if self._window is not None:
            if self._last_step is not None and self._step >= self._last_step:
                self.close()
                self._stretches.pop(0)
            elif self._is_full():
                self._go_on_in_another()
        elif self._is_next():
            self._open_next()

    def _is_next(self) -> bool:
        return bool(self._stretches) and self._is_time_for(self._stretches[0])

    def _is_time_for(self, stretch: Stretch) -> bool:
        if self._step < stretch.after or self._step < self._compiled_at + _SETTLED_STEPS:
            return False
        if not stretch.if_cheap:
            return True
        elapsed_ns = time.monotonic_ns() - self._began_ns
        share = self.recording.options.budget_share * SHARE_OF_BUDGET
        is_cheap = 2 * self._spent_ns <= share * elapsed_ns
        return is_cheap and not self._has_other_ranks()  # each would choose a step of its own

    def _open_next(self) -> None:
        """The next stretch; one whose steps have gone by while the script profiled is dropped."""
        stretch = self._stretches[0]
        if self._step > 0:
            _core.on_optimizer(None)  # those of a step are known by now
        self._last_step = None
        if stretch.steps is not None and self._is_default:
            self._last_step = self._step + self._meter.steps_that_fit(stretch.steps)
        elif stretch.steps is not None:
            self._last_step = stretch.after + stretch.steps
            if self._step >= self._last_step:
                self._stretches.pop(0)
                return
        self._meter.refill()
        self._open()

    def _open_probe(self) -> None:
        self._last_step = None
        self._meter.refill()
        earlier = list(self._probes)
        if self._open() and self._window is not None:
            self._probes = [self._window]
            for probe in earlier:
                probe.forget()

    def _forget_probes(self) -> None:
        """Steps after warm-up tell more than the first one."""
        if self._window in self._probes:
            self._discard()
        for probe in self._probes:
            probe.forget()
        self._probes.clear()

    def _go_on_in_another(self) -> None:
        is_probe = self._window in self._probes
        self.close()
        if self._meter.left >= _LEAST_ROOM:
            if self._open() and is_probe and self._window is not None:
                self._probes.append(self._window)
            return
        if not is_probe:
            self._stretches.pop(0)
        if not self._is_default:
            self.recording.note(
                f"Operators were recorded up to about {self._meter.recorded:,} events, not to the "
                "end of what --ops asks for."
            )

    # --- opening and closing ---------------------------------------------------------------------

    def _open(self) -> bool:
        if self._window is not None or self.foreign or self._is_over or not self._is_here():
            return False
        if not one_window.is_free():
            return False
        before_ns = time.monotonic_ns()
        window = Window(self._torch, self._quiet, self.recording.folder(), self._number + 1)
        self.is_working = True
        try:
            window.open(self._line_begins, self._look_again_ticks(), self._tensors())
        finally:
            self.is_working = False
        self._number += 1
        self._window, self._steps = window, 0
        _core.on_forward(self.forward_begins)
        one_window.take(self)
        self._opened_ns = time.monotonic_ns()
        self._spent_ns += self._opened_ns - before_ns
        self.closed.clear()
        atexit.register(self.close)  # runs before the recording's own
        return True

    def close(self, *, keep: bool = True) -> None:
        """Also at the exit. Without one that is open nothing happens."""
        if self._window is None or not self._is_here():
            return
        window, self._window = self._window, None
        keep, self._is_spoilt = keep and not self._is_spoilt, False
        atexit.unregister(self.close)
        before_ns = time.monotonic_ns()
        self.is_working = True
        try:
            window.close(keep=keep)
        finally:
            self.is_working = False
            self.closed.set()
            one_window.give_back(self)
            self._spent_ns += time.monotonic_ns() - before_ns
        if keep:
            self._meter.closed(window.events, before_ns - self._opened_ns, self._steps)

    def _discard(self) -> None:
        self.close(keep=False)

    # --- small questions -------------------------------------------------------------------------

    @staticmethod
    def _may_be_ours() -> bool:
        """A step in which no module and no optimizer of torch's ran: one that the script marks,
        unless it trains with another framework and has torch beside it."""
        return pace.is_marked() and not one_window.others_have_worked

    def _is_here(self) -> bool:
        """Where a window may be opened or closed. Inside of backward torch keeps the thread's state
        aside, and what is changed there comes back."""
        is_outside = self._is_main_thread() and self._torch._C._current_graph_task_id() < 0
        return is_outside and os.getpid() == self._pid

    @staticmethod
    def _is_main_thread() -> bool:
        return threading.get_ident() == threading.main_thread().ident

    def _is_full(self) -> bool:
        elapsed_ns = time.monotonic_ns() - self._opened_ns
        is_full = self._is_in_the_way or self._meter.is_full(elapsed_ns, self._steps)
        return is_full and self._is_here()

    def _look_again_ticks(self) -> int:
        elapsed_ns = time.monotonic_ns() - self._opened_ns if self._window is not None else 0
        return _core.ticks() + int(self._meter.time_left_ns(elapsed_ns) * _core.ticks_per_ns())

    def _has_other_ranks(self) -> bool:
        distributed = getattr(self._torch, "distributed", None)
        return bool(distributed and distributed.is_available() and distributed.is_initialized())

    def _tensors(self) -> int:
        groups = [group for each in list(self._optimizers) for group in each.param_groups]
        return sum(len(group["params"]) for group in groups)

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            self._stretches.clear()
            self._is_default = False
            self.recording.note(f"Operators are not recorded: {error!r}")
