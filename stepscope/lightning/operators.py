"""The operators of a few steps, in torch's own table.

The first two steps warm up, the next three are shown; with fewer steps, those there are.
"""

import importlib
import threading
from typing import Any, Final

from stepscope.record.frameworks.torch import operators

_WARM_UP: Final = 2
_SHOWN: Final = 3
# The actions that are steps, by what the trainer is doing.
_STEPS: Final = {
    "fit": "run_training_batch",
    "validate": "validation_step",
    "test": "test_step",
    "predict": "predict_step",
}
_OTHER: Final = "Another torch profiler was running: operators are not shown."


class Operators:
    def __init__(self, row_limit: float) -> None:
        self._row_limit = row_limit
        self.restart()

    def restart(self, stage: str | None = None) -> None:
        self._step = _STEPS.get(stage or "fit", "training_step")
        self._steps = 0
        self._thread: int | None = None
        self._running: Any = None
        self._shown: Any = None  # the profiler whose events are shown
        self._window = 0, 0
        self._text: str | None = None

    def start(self, name: str) -> None:
        if self._thread is None and name.endswith(self._step):
            self._thread = threading.get_ident()
            self._open()

    def stop(self, name: str) -> None:
        if self._running is None or not name.endswith(self._step):
            return
        if self._thread != threading.get_ident():
            return
        self._steps += 1
        if self._steps == _WARM_UP:
            self._close()
            self._open()
        elif self._steps == _WARM_UP + _SHOWN:
            self._close()

    def _open(self) -> None:
        torch: Any = importlib.import_module("torch")
        if _is_taken(torch):
            self._text = _OTHER
            return
        self._began = self._steps
        self._running = torch.profiler.profile()
        self._running.start()

    def _close(self) -> None:
        profiler, self._running = self._running, None
        if profiler is None:
            return
        profiler.stop()
        if self._shown is None or self._steps > self._began:
            self._shown, self._window = profiler, (self._began + 1, self._steps)

    def text(self) -> str:
        self._close()
        if self._shown is not None:
            self._text, self._shown = self._table(), None
        return self._text or "No step has run: there are no operators to show."

    def _table(self) -> str:
        torch: Any = importlib.import_module("torch")
        averages = self._shown.key_averages()
        by = "device_time_total" if torch.cuda.is_available() else "cpu_time_total"
        limit = self._row_limit
        rows = limit if isinstance(limit, int) else round(limit * len(averages))
        first, last = self._window
        table: str = averages.table(sort_by=by, row_limit=rows)
        return f"Profile stats for: operators of steps {first} to {last}\n{table}"


def _is_taken(torch: Any) -> bool:
    """Whether a profiler is running already: two at once end the process. Our own recording gives
    way on its own."""
    return bool(torch.autograd._profiler_enabled()) and not operators.gives_way()
