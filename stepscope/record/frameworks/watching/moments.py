"""Moments at which the script has got further: for changes that must wait for something of its own.

A function of the main script is there once its `def` has run, and nothing announces that. But the
steps begin with the first turn of a loop in the user's code, or a framework reports them.
"""

from collections.abc import Callable

from stepscope.record.frameworks.watching import running_recording
from stepscope.record.steps import loop_turns, step_counter


class _Waiting:
    """Tries at the first turn of every loop, and at steps 1, 2, 4, 8 …"""

    def __init__(self, action: Callable[[], bool]) -> None:
        self._action = action
        self._loops: set[int] = set()
        self._is_over = False

    def begin(self, _recording: object) -> None:
        self._try()
        if not self._is_over:
            loop_turns.listen(self.loop_turned)
            step_counter.listen(self.step_ended)

    def loop_turned(self, loop: int, _ticks: int, _line_before: int) -> None:
        if loop not in self._loops:
            self._loops.add(loop)
            self._try()

    def step_ended(self, step: int) -> int:
        if self._is_over:
            return step_counter.NEVER
        if step & (step - 1) == 0:
            self._try()
        return step + 1

    def _try(self) -> None:
        if not self._is_over and self._action():
            self._is_over = True
            loop_turns.stop_listening(self.loop_turned)


def until(action: Callable[[], bool]) -> None:
    """Call `action`, which must not raise, at such moments until it returns True."""
    running_recording.when_running(_Waiting(action).begin)
