"""--steps, --until-stable and --stop-after: find the training loop while it runs.

The report chooses the step loop with the whole run at hand; here a simpler rule must do: the
busiest loop among those whose turns take 1 ms or more or have passes of a framework in them, that
have turned ten times, and that do not always turn the same few times when entered (layers, a
generator and its discriminator).
An enclosing loop turns less often in the same time, so the busiest one is the innermost.

Where a framework is loaded, the steps have passes of it in them. A loop without any may only make
the data, and so may any loop where there is no framework: it counts at once if no other loop
follows it, or when it has gone on for so long that it must be what the script is for.
"""

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Final, Protocol

from stepscope.launch.options import RecordOptions
from stepscope.native import _core
from stepscope.record.code.code_table import table
from stepscope.record.code.loops import Loop
from stepscope.record.steps.larger_steps import FEW_TURNS, LargerSteps
from stepscope.record.steps.what_follows import any_left, loops_follow

TURNS_AT_LEAST: Final = 10  # as in the report
TURN_NS_AT_LEAST: Final = 1e6  # the same
STABLE_STEPS: Final = 20  # two windows of ten
STABLE_WITHIN: Final = 0.05  # whose medians differ by at most 5 %
STABLE_AFTER: Final = 10  # steps: the first ones are warm-up
ENTRIES_TO_KNOW: Final = 3  # two may have as many turns by chance
FRAMEWORKS: Final = ("jax", "tensorflow", "torch")
WITHOUT_PASSES_S: Final = 30.0  # where a framework is loaded


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
        self._passes = _core.passes()
        self._with_passes = 0  # turns
        self.is_last: bool | None = None  # of the script's loops; None: nobody asked

    def add(self, ticks: int, line_before: int) -> None:
        inside = self._loop.line <= line_before <= self._loop.last_line
        if inside and self._entries:
            self._entries[-1] += 1
        else:
            self._entries.append(0)
        before, self._passes = self._passes, _core.passes()
        self._with_passes += bool(self.stamps) and self._passes > before
        self.stamps.append(ticks)

    def could_be_steps(self) -> bool:
        if len(self.stamps) <= TURNS_AT_LEAST or self._always_few():
            return False
        return self.has_passes or _median_turn_ns(self.stamps) >= TURN_NS_AT_LEAST

    @property
    def has_passes(self) -> bool:
        return 2 * self._with_passes >= len(self.stamps) - 1

    @property
    def lasted_s(self) -> float:
        return _lasted_s(self.stamps)

    def _always_few(self) -> bool:
        finished = self._entries[:-1][-10:]
        if len(finished) < ENTRIES_TO_KNOW:
            return False
        return len(set(finished)) == 1 and finished[0] <= FEW_TURNS


class _StepLoop(Protocol):
    def turned(self, loop_id: int, ticks: int, line_before: int) -> list[int]:
        """Its stamps so far, if it is the step loop that has turned; otherwise nothing."""


class _GuessedLoop:
    """`after_s`: how long a loop must go on before it is taken for the step loop, if other loops
    follow and no framework shows that it trains."""

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._loops: dict[int, _Turns] = {}

    def turned(self, loop_id: int, ticks: int, line_before: int) -> list[int]:
        turns = self._loops.get(loop_id)
        if turns is None:
            turns = self._loops[loop_id] = _Turns(table.loop(loop_id))
        turns.add(ticks, line_before)
        is_it = turns is self._busiest(since=turns.stamps[0]) and self._is_sure(turns)
        return turns.stamps if is_it else []

    def _busiest(self, since: int) -> _Turns | None:
        """Among those that have turned since then: what is over was no step loop."""
        running = [turns for turns in self._loops.values() if turns.stamps[-1] >= since]
        candidates = [turns for turns in running if turns.could_be_steps()]
        return max(candidates, key=lambda turns: len(turns.stamps), default=None)

    def _is_sure(self, turns: _Turns) -> bool:
        if turns.has_passes:
            return True
        is_framework_there = any(name in sys.modules for name in FRAMEWORKS)
        wait_s = WITHOUT_PASSES_S if is_framework_there else self._after_s
        return turns.lasted_s >= wait_s or self._is_last(turns, is_framework_there)

    def _is_last(self, turns: _Turns, is_framework_there: bool) -> bool:
        """A framework's training may be anywhere: there, no other loop at all may be left."""
        if turns.is_last is None:
            turns.is_last = not loops_follow(_frames(), table, begun=self._loops)
            if is_framework_there:
                turns.is_last &= not any_left(table, begun=self._loops)
        return turns.is_last


class _NamedLoop:
    """The loop at a place, "train.py:31", however short its turns are."""

    def __init__(self, place: str) -> None:
        self._file, _, line = place.rpartition(":")
        self._line = int(line) if line.isdecimal() else 0  # no file: no loop is it
        self._ids: dict[int, bool] = {}  # loops, and whether they are it
        self._stamps: list[int] = []

    def turned(self, loop_id: int, ticks: int, line_before: int) -> list[int]:
        if loop_id not in self._ids:
            self._ids[loop_id] = self._is_it(loop_id)
            if self._ids[loop_id]:
                _core.stamp_always(loop_id)
        if not self._ids[loop_id]:
            return []
        self._stamps.append(ticks)
        return self._stamps

    def _is_it(self, loop_id: int) -> bool:
        path = os.sep + table.file_of(loop_id)
        return table.loop(loop_id).line == self._line and path.endswith(os.sep + self._file)


class StepLimits:
    """Counts steps as they come; ends the script or the recording when a limit is met."""

    def __init__(self, options: RecordOptions, end_recording: Callable[[], None]) -> None:
        self._options = options
        self._end_recording = end_recording
        self._loop: _StepLoop | None = None  # none: only what is reported counts
        if options.step_loop is None:
            self._loop = _GuessedLoop(options.guess_after_s)
        elif options.step_loop:
            self._loop = _NamedLoop(options.step_loop)
        self._reported: list[int] = []  # when reported steps ended: those need no guess
        self._larger = LargerSteps()

    def loop_turned(self, loop_id: int, ticks: int, line_before: int) -> None:
        stamps = self._larger.turned(loop_id, ticks, line_before, len(self._reported))
        # Otherwise the script or its framework says what its steps are.
        if not self._reported and self._loop is not None:
            stamps = self._loop.turned(loop_id, ticks, line_before)
        if stamps:
            self._judge(len(stamps) - 1, stamps)

    def step_ended(self, steps: int) -> None:
        """Called by `step_counter`."""
        if self._options.step_loop:
            return  # a loop, whatever else is reported
        if steps <= len(self._reported):
            self._reported.clear()  # a better source counts from the start
        self._reported.append(_core.ticks())
        if not self._larger.may_hold(len(self._reported)):
            self._judge(steps, self._reported)

    def _judge(self, done: int, stamps: list[int]) -> None:
        after = self._options.stop_after_steps
        if after and done >= after:
            self._end_recording()
        enough = self._options.steps
        if enough and done >= enough and _lasted_s(stamps) >= self._options.steps_for_s:
            raise EndOfSteps
        if self._options.until_stable and _is_stable(stamps):
            raise EndOfSteps


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def _lasted_s(stamps: list[int]) -> float:
    return (stamps[-1] - stamps[0]) / _core.ticks_per_ns() / 1e9


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
