"""Loops in the user's code whose turns are short and many: work by element, in Python."""

import ast
import dataclasses
from typing import Final

from stepscope.advise.evidence.code import StepLine
from stepscope.advise.evidence.source import Loop, Sources, is_carried, last_line
from stepscope.store.records import ProcessInfo

LEAST_TURNS: Final = 50  # a step: fewer are layers, heads or ranks, not elements
_LONGEST_TURN_NS: Final = 1_000_000.0  # a turn that takes longer has its own large calls


@dataclasses.dataclass(frozen=True)
class HotLoop:
    function: StepLine  # one of its lines: the function it belongs to
    first: int
    last: int
    hottest: StepLine
    ns: float  # by step
    turns: float | None  # by step
    error_ns: float = 0.0  # of `ns`
    is_timed: bool = True  # by the events of its lines, and not by samples, which leave these out

    def own(self, lines: list[StepLine]) -> list[StepLine]:
        """Those of these lines that are in it, and in its own function."""
        owner = self.function.function
        return [
            line
            for line in lines
            if self.first <= line.row.line <= self.last
            and (line.function.file, line.function.first_line) == (owner.file, owner.first_line)
        ]

    def recorded_ns(self, process: ProcessInfo, lines: list[StepLine]) -> float:
        """What the events of its lines cost of `ns`."""
        if not self.is_timed:
            return 0.0
        by_event = process.event_cost_ticks / max(process.ticks_per_ns, 1e-9)
        return by_event * sum(line.hits for line in self.own(lines) if not line.row.estimated)


def hot_loops(sources: Sources, lines: list[StepLine], with_core: float) -> list[HotLoop]:
    """Of nested loops, the outermost that could be one call. `with_core`: the part of the time in
    which the thread had one; on a busy machine a turn seems to take long."""
    found: list[HotLoop] = []
    for file in sources.files:
        text = sources.text(file)
        if text is None:
            continue
        mine = [line for line in lines if line.function.file == file]
        loops = sorted(text.loops(), key=lambda loop: (loop.lineno, -last_line(loop)))
        taken: list[tuple[int, int]] = []
        for loop in loops:
            if any(first <= loop.lineno <= last for first, last in taken):
                continue
            hot = _hot(mine, loop, with_core)
            if hot is not None and not is_carried(loop) and not yields(loop):
                taken.append((hot.first, hot.last))
                found.append(hot)
    return found


def yields(loop: Loop) -> bool:
    """A generator hands out one item in each turn: its own loop is no work by element."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(loop))


def _hot(lines: list[StepLine], loop: Loop, with_core: float) -> HotLoop | None:
    first, last = loop.lineno, last_line(loop)
    inside = [line for line in lines if first <= line.row.line <= last]
    body = [line for line in inside if line.row.line == loop.body[0].lineno]
    turns = max((line.hits for line in body), default=0.0)
    owner = [line for line in inside if line.row.line == first]
    if turns < LEAST_TURNS or not owner:
        return None
    own = [line for line in inside if line.function.first_line == owner[0].function.first_line]
    ns = sum(line.ns for line in own)
    if with_core * ns / turns > _LONGEST_TURN_NS:
        return None
    return HotLoop(owner[0], first, last, max(own, key=lambda line: line.ns), ns, turns)
