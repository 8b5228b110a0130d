"""The operators of a few steps, in torch's own table and as files for TensorBoard.

Training, validation, test and prediction steps are counted apart, and each kind has one window. The
first two steps warm up, the next three are shown, unless the script has a schedule of its own; with
fewer steps, those there are. `schedule=None` records everything, from the first action on.
"""

import copy
import importlib
import threading
from typing import Any, Final, Protocol

from stepscope.lightning.operator_settings import OperatorSettings
from stepscope.lightning.operator_window import Window
from stepscope.record.frameworks.torch import operators

_WARM_UP: Final = 2
_LAST: Final = 4  # the fifth step, counted from 0
# The actions that are steps, by how their names end. A training step lies inside its batch.
_KINDS: Final = {
    "run_training_batch": "training_step",
    "training_step": "training_step",
    "validation_step": "validation_step",
    "test_step": "test_step",
    "predict_step": "predict_step",
}
_EVERYTHING: Final = "everything"
_ORDER: Final = (*dict.fromkeys(_KINDS.values()), _EVERYTHING)  # of the tables
_OTHER: Final = "Another torch profiler was running: operators are not shown."
_NONE: Final = "No step has run: there are no operators to show."
_TOO_FEW: Final = (
    "{steps} ran: not enough steps to properly record traces, which takes five, or as many as the "
    "schedule asks for. The report has {shown}."
)


class Surroundings(Protocol):
    """What the profiler around does with it."""

    def trace_ready(self, profiler: Any, kind: str) -> None: ...
    def module_names(self) -> Any: ...
    def warn(self, message: str) -> None: ...


class Operators:
    """Only one thread is recorded: that of the first action."""

    def __init__(self, settings: OperatorSettings, around: Surroundings) -> None:
        self._settings = settings
        self._around = around
        self._running: Window | None = None
        self.restart()

    def restart(self) -> None:
        self.end()
        self._thread: int | None = None
        self._steps: dict[str, int] = {}  # by kind: those that have ended
        self._step: str | None = None  # the action of the running step
        self._action: Any = None  # what the schedule says about it
        self._windows: dict[str, Window] = {}  # by kind: what is shown
        self._trouble: str | None = None
        self._text: str | None = None
        self._events: Any = None

    # --- while it trains ----------------------------------------------------------------------

    def start(self, name: str) -> None:
        if self._thread is None:
            self._thread = threading.get_ident()
        if self._thread != threading.get_ident():
            return
        kind = _kind_of(name) if self._step is None else None
        if kind is not None:
            self._step = name
            self._step_begins(kind)
        elif self._records_everything:
            self._open_for_everything()
        if self._running is not None:
            self._running.begin_action(name)

    def stop(self, name: str) -> None:
        if self._thread != threading.get_ident():
            return
        if self._running is not None:
            self._running.end_action(name)
        if name == self._step:
            self._step = None
            self._step_ended(_kind_of(name) or "")

    @property
    def _records_everything(self) -> bool:
        return self._settings.has_schedule and self._settings.schedule is None

    def _step_begins(self, kind: str) -> None:
        if self._records_everything:
            self._open_for_everything()
        else:
            if self._running is not None and self._running.kind != kind:
                self._close()
            if not self._is_complete(kind):
                self._follow_schedule(kind)
        if self._running is not None:
            self._running.begin_step(self._steps.get(kind, 0))

    def _follow_schedule(self, kind: str) -> None:
        steps = self._steps.get(kind, 0)
        action = self._action = self._wanted(steps)
        if action.name == "NONE" or (steps == _WARM_UP and not self._settings.has_schedule):
            self._close()  # the warm-up, which was recorded in case no more steps come
        if action.name != "NONE":
            self._open(kind, first=steps, begins=action.name != "WARMUP")

    def _wanted(self, steps: int) -> Any:
        schedule = self._settings.schedule
        if schedule is not None:
            return schedule(steps)
        actions = importlib.import_module("torch").profiler.ProfilerAction
        return actions.RECORD_AND_SAVE if steps == _LAST else actions.RECORD

    def _step_ended(self, kind: str) -> None:
        steps = self._steps.get(kind, 0)
        self._steps[kind] = steps + 1
        window = self._running
        if window is None or window.kind != kind:
            return
        window.steps = steps + 1
        if self._action.name == "RECORD_AND_SAVE":
            window.is_complete = True
            self._close()

    def _is_complete(self, kind: str) -> bool:
        return kind in self._windows and self._windows[kind].is_complete

    def end(self) -> None:
        """Something raised out of the training: torch's profiler must not be left running."""
        window, self._running = self._running, None
        if window is not None:
            window.end()

    # --- windows ------------------------------------------------------------------------------

    def _open_for_everything(self) -> None:
        if _EVERYTHING not in self._windows:
            self._open(_EVERYTHING, first=0)

    def _open(self, kind: str, first: int, begins: bool = True) -> None:
        """Goes on with one that is open."""
        if self._trouble is not None:
            return
        if self._running is None:
            if _is_taken():
                self._trouble = _OTHER
                return
            self._running = Window(kind, self._settings.new_profiler(), self._around.module_names())
        if begins:
            self._running.begin(first)

    def _close(self) -> None:
        window, self._running = self._running, None
        if window is None:
            return
        window.end()
        if not window.has_begun:
            return
        self._text = self._events = None
        before = self._windows.get(window.kind)
        if before is None or window.steps > before.steps:
            self._windows[window.kind] = window
        if window.is_complete:
            self._save_trace(window)

    def _save_trace(self, window: Window) -> None:
        window.is_saved = True
        self._around.trace_ready(window.profiler, window.kind)

    # --- the report ---------------------------------------------------------------------------

    @property
    def events(self) -> Any:
        """torch's events of all windows, or None."""
        self._close()
        if self._events is None and self._windows:
            first, *others = (window.profiler.events() for window in self._windows.values())
            self._events = copy.copy(first)  # the list itself is the profiler's
            for events in others:
                self._events.extend(events)
        return self._events

    def text(self) -> str:
        self._close()
        if self._text is None:
            self._text = self._report()
        return self._text

    def _report(self) -> str:
        windows = [self._windows[kind] for kind in _ORDER if kind in self._windows]
        for window in windows:
            if not window.is_saved and (window.kind != _EVERYTHING or self._steps):
                self._save_trace(window)
        self._warn_of_too_few()
        parts = [self._table(window) for window in windows]
        return "\n".join([*([self._trouble] if self._trouble else []), *parts]) or _NONE

    def _table(self, window: Window) -> str:
        by_shape = self._settings.group_by_input_shapes
        averages = window.profiler.key_averages(group_by_input_shape=by_shape)
        return f"Profile stats for: {window.described()}\n{self._settings.table(averages)}"

    def _warn_of_too_few(self) -> None:
        if self._records_everything or self._trouble is not None:
            return
        for kind, steps in self._steps.items():
            if not self._is_complete(kind):
                window = self._windows.get(kind)
                shown = window.described() if window else "none of them"
                ran = f"{steps} {kind.replace('_', ' ')}{'s' * (steps != 1)}"
                self._around.warn(_TOO_FEW.format(steps=ran, shown=shown))


def _kind_of(action: str) -> str | None:
    return next((kind for ending, kind in _KINDS.items() if action.endswith(ending)), None)


def _is_taken() -> bool:
    """Whether a profiler is running already: two at once end the process. Our own recording gives
    way on its own."""
    torch: Any = importlib.import_module("torch")
    return bool(torch.autograd._profiler_enabled()) and not operators.gives_way()
