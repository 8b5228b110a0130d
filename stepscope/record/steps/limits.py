"""--steps, --until-stable and --stop-after: find the training loop while it runs.

The report chooses the step loop with the whole run at hand; here a simpler rule must do: the
busiest loop among those whose turns take 1 ms or more, that have turned ten times, and that do
not always turn the same few times when entered (layers, a generator and its discriminator).
An enclosing loop turns less often in the same time, so the busiest one is the innermost.
"""

import itertools
from collections.abc import Callable
from typing import Final

from stepscope.launch.options import RecordOptions
from stepscope.native import _core
from stepscope.record.code.code_table import table
from stepscope.record.code.loops import Loop

TURNS_AT_LEAST: Final = 10
TURN_NS_AT_LEAST: Final = 1e6
STABLE_STEPS: Final = 20  # two windows of ten
STABLE_WITHIN: Final = 0.05  # whose medians differ by at most 5 %
STABLE_AFTER: Final = 10
FEW_TURNS: Final = 8
ENTRIES_TO_KNOW: Final = 3


class EndOfSteps(SystemExit):
    """Ends the script as `sys.exit(0)` would: `finally` and `with` do their work."""

    def __init__(self) -> None:
        super().__init__(0)


class _Turns:
    """What is known so far about one loop."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.stamps: list[int] = []
        self._entries: list[int] = []  # turns of each entry

    def add(self, ticks: int, line_before: int) -> None:
        inside = self._loop.line <= line_before <= self._loop.last_line
        if inside and self._entries:
            self._entries[-1] += 1
        else:
            self._entries.append(0)
        self.stamps.append(ticks)

    def could_be_steps(self) -> bool:
        if len(self.stamps) <= TURNS_AT_LEAST or self._always_few():
            return False
        return _median_turn_ns(self.stamps) >= TURN_NS_AT_LEAST

    def _always_few(self) -> bool:
        finished = self._entries[:-1][-10:]
        if len(finished) < ENTRIES_TO_KNOW:
            return False
        return len(set(finished)) == 1 and finished[0] <= FEW_TURNS


class StepLimits:
    """Counts steps as they come; ends the script or the recording when a limit is met."""

    def __init__(self, options: RecordOptions, end_recording: Callable[[], None]) -> None:
        self._options = options
        self._end_recording = end_recording
        self._loops: dict[int, _Turns] = {}
        self._reported: list[int] = []  # when reported steps ended: those need no guess

    @staticmethod
    def wanted(options: RecordOptions) -> bool:
        return bool(options.steps or options.until_stable or options.stop_after_steps)

    def loop_turned(self, loop_id: int, ticks: int, line_before: int) -> None:
        if self._reported:
            return  # the script or its framework says what its steps are
        turns = self._loops.get(loop_id)
        if turns is None:
            turns = self._loops[loop_id] = _Turns(table.loop(loop_id))
        turns.add(ticks, line_before)
        if turns is self._step_loop():
            self._judge(len(turns.stamps) - 1, turns.stamps)

    def step_ended(self, steps: int) -> None:
        """Called by `step_counter`."""
        if steps <= len(self._reported):
            self._reported.clear()  # a better source counts from the start
        self._reported.append(_core.ticks())
        self._judge(steps, self._reported)

    def _step_loop(self) -> _Turns | None:
        candidates = [turns for turns in self._loops.values() if turns.could_be_steps()]
        return max(candidates, key=lambda turns: len(turns.stamps), default=None)

    def _judge(self, done: int, stamps: list[int]) -> None:
        after = self._options.stop_after_steps
        if after and done >= after:
            self._end_recording()
        if self._options.steps and done >= self._options.steps:
            raise EndOfSteps
        if self._options.until_stable and _is_stable(stamps):
            raise EndOfSteps


def _median_turn_ns(stamps: list[int]) -> float:
    recent = stamps[-50:]
    turns = [after - before for before, after in itertools.pairwise(recent)]
    return _median(turns) / _core.ticks_per_ns()


def _median(values: list[int]) -> float:
    return sorted(values)[len(values) // 2]


def _is_stable(stamps: list[int]) -> bool:
    if len(stamps) <= STABLE_AFTER + STABLE_STEPS:
        return False
    recent = stamps[-STABLE_STEPS - 1 :]
    turns = [after - before for before, after in itertools.pairwise(recent)]
    half = len(turns) // 2
    first, second = _median(turns[:half]), _median(turns[half:])
    return abs(first - second) <= STABLE_WITHIN * second
