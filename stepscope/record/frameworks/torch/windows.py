"""When a window of operators opens and closes.

By default from the first forward to the end of the first step, or a few calls of the same module,
for scripts that have no more than that: this window is deleted when a second step comes. Then three
steps after the fifth, and three more once both together stay in the budget. `--ops 10:20` names the
steps, `--ops all` begins at once. A window that may be full is closed, which shows how full it is;
another one uses the remaining room.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch.current_window import CurrentWindow
from stepscope.record.frameworks.torch.window import Window
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.running_recording import RunningRecording
from stepscope.record.frameworks.windows import window_slot
from stepscope.record.frameworks.windows.event_meter import Meter
from stepscope.record.frameworks.windows.probe import Probe
from stepscope.record.frameworks.windows.schedule import Schedule
from stepscope.record.frameworks.windows.window_events import MOST_LINES
from stepscope.record.steps import step_counter
from stepscope.signal_handlers import let_pass

_LEAST_ROOM: Final = 1_000  # events: less is not worth another window


class Windows:
    """Used on the main thread only. A failure here ends the windows and is noted in the run: it
    never reaches the training."""

    def __init__(self, torch: Any, recording: RunningRecording) -> None:
        self.recording = recording
        self._meter = Meter()
        self._schedule = Schedule(
            recording.options.ops,
            recording.options.budget_share,
            time.monotonic_ns,
            named_steps_settle=True,
            is_alone=lambda: not _has_other_ranks(torch),
        )
        self.current = CurrentWindow(torch, recording, self._schedule, self._meter, self)
        self._probe = Probe()
        self._probes: list[Window] = []  # windows of a script that may have no steps
        self._is_due = False  # a step ended where no window can be opened or closed
        self._is_used = False  # torch code has run

    # --- what happens in the training ------------------------------------------------------------

    def begin(self) -> None:
        if self.recording.options.ops == "all":
            self._guarded(self._open_next)

    @compiled_graphs.are_not_for
    def forward_begins(self, module: object) -> None:
        """The outermost module is called."""
        current, probe = self.current, self._probe
        self._is_used = True
        probe.turns += id(module) == probe.module
        if self._is_due and current.is_here():
            self._is_due = False
            self._guarded(self._after_step)
        elif current.window is not None:
            lasted_ns = self._schedule.now_ns() - self._schedule.opened_ns
            if current.is_full():
                self._guarded(self._go_on_in_another)
            elif (
                current.window in self._probes
                and probe.has_seen_enough(lasted_ns)
                and current.is_here()
            ):
                probe.turns = 0
                self._guarded(current.close)
        elif self._schedule.step == 0 and current.is_here():  # no step has ended so far
            if self._schedule.is_default:
                if probe.begins_with(id(module), current.number):
                    self._guarded(self._open_probe)
            elif current.number == 0 and self._schedule.begins_at_once:
                self._guarded(self._open_next)

    @compiled_graphs.are_not_for
    def optimizer_stepped(self, optimizer: Any) -> None:
        self._is_used = True
        current = self.current
        with contextlib.suppress(TypeError):  # one that compares by value may not be hashable
            current.optimizers.add(optimizer)
        if self._probes and current.window is self._probes[-1] and current.is_here():
            current.steps = 1
            self._guarded(current.close)

    def step_ended(self, step: int) -> int | None:
        """Returns the next step to be called for."""
        self._schedule.step = step
        self.current.steps += 1
        if self.current.window is None and not self._probes and not self._schedule.is_time():
            look_again_at = self._schedule.look_again_at()
            if look_again_at is not None:
                _core.on_forward(None)
            return look_again_at
        if self._is_used or _may_be_torchs():
            self._step_counts()
        return None

    def _step_counts(self) -> None:
        if self.current.is_here():
            self._guarded(self._after_step)
        elif threading.get_ident() == threading.main_thread().ident:
            # In the middle of backward: at the next forward then.
            self._is_due = True
            _core.on_forward(self.forward_begins)
        elif self.current.is_this_process():
            self.recording.note(
                "Operators are not recorded: the training does not run on the main thread."
            )

    def compilation_begins(self, _args: Any = None) -> None:
        """It runs tens of thousands of operators on tensors without content. The window must not
        be closed here: torch restores the thread's state afterwards, which would reopen it."""
        self.current.is_spoilt = self.current.window is not None
        self._schedule.compiled()

    @compiled_graphs.are_not_for
    def compiles(self) -> None:
        """The script uses torch.compile: the first forward will be the compilation."""
        self._probe.is_off = True

    def line_begins(self) -> None:
        """The user's next line after the time at which the window could be full."""
        if self.current.window is None or not self.current.is_here():
            return
        if self.current.is_full():
            self._guarded(self._go_on_in_another)
        else:
            _core.lines_log(MOST_LINES, self.current.look_again_ticks(), self.line_begins)

    def make_way(self, patience_s: float) -> None:
        """The script's own profiler is about to begin."""
        if self.current.window is None:
            return
        if self.current.is_here():
            self._guarded(self.current.discard)
        elif self.current.is_this_process():
            self.current.is_in_the_way = True
            self.current.closed.wait(patience_s)

    def adopted(self) -> None:
        """The script's own profiler has recorded what ours would have."""
        if self._schedule.is_default:
            self._schedule.enough()
            self._forget_probes()

    def end_window(self) -> None:
        """Before a fork."""
        self._guarded(self.current.close)

    def finish(self) -> None:
        """The recording is about to end. On another thread the window stays open until the next
        step, or the exit."""
        self.current.is_over = True
        self._guarded(self.current.close)

    # --- what follows from it --------------------------------------------------------------------

    def _after_step(self) -> None:
        if self._probes:
            self._forget_probes()
        if self.current.window is not None:
            if self._schedule.is_last_step():
                self.current.close()
                self._schedule.done()
            elif self.current.is_full():
                self._go_on_in_another()
        elif self._schedule.is_time():
            self._open_next()

    def _open_next(self) -> None:
        if self._schedule.step > 0:
            _core.on_optimizer(None)  # the optimizers of a step are known by now
        if self._schedule.begin_next(self._meter.steps_that_fit):
            self._meter.refill()
            self.current.open()

    def _open_probe(self) -> None:
        self._schedule.begin_without_end()
        self._meter.refill()
        earlier = list(self._probes)
        if self.current.open() and self.current.window is not None:
            self._probes = [self.current.window]
            for probe in earlier:
                probe.forget()

    def _forget_probes(self) -> None:
        """Steps after warm-up say more than the first one."""
        if self.current.window in self._probes:
            self.current.discard()
        for probe in self._probes:
            probe.forget()
        self._probes.clear()

    def _go_on_in_another(self) -> None:
        current = self.current
        is_probe = current.window in self._probes
        current.close()
        if self._meter.left >= _LEAST_ROOM:
            if current.open() and is_probe and current.window is not None:
                self._probes.append(current.window)
            return
        if not is_probe:
            self._schedule.done()
        if not self._schedule.is_default:
            self.recording.note(
                f"Operators were recorded up to about {self._meter.recorded:,} events only: --ops "
                "asks for more."
            )

    def _guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except Exception as error:
            let_pass(error)
            self._schedule.give_up()
            self.recording.note(f"Operators are not recorded: {error!r}")


def _may_be_torchs() -> bool:
    """A step without a torch module or optimizer counts if the script marks it, unless it trains
    with another framework and only uses torch on the side."""
    return step_counter.is_marked() and not window_slot.others_have_worked


def _has_other_ranks(torch: Any) -> bool:
    distributed = getattr(torch, "distributed", None)
    return bool(distributed and distributed.is_available() and distributed.is_initialized())
