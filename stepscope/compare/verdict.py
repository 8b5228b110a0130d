"""The comparison in one sentence."""

import dataclasses
import os
from typing import Final

import msgspec

from stepscope.advise.evidence.words import at, ms, times
from stepscope.compare.changes import Totals
from stepscope.compare.statistics.speedup import Estimate
from stepscope.model import Location
from stepscope.model.comparison import Change, Ratio

_FEW_STEPS: Final = 20  # with fewer, a single odd one is more than 5 % of them
_MOST_OF_IT: Final = 0.5
_MATTERS: Final = 0.05  # of the longer step
_ALIKE: Final = 0.3  # a line's samples and a phase's spans may differ by that much


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the sentence is made of."""

    wall: Estimate
    cpu: Ratio | None
    totals: Totals
    changes: list[Change]
    is_significant: bool
    by_sample: bool
    fewest_steps: int  # measured, of either side


def verdict(outcome: Outcome) -> str:
    if not outcome.is_significant:
        return f"{_no_difference(outcome)}{_because(outcome)}."
    unit, totals = "sample" if outcome.by_sample else "step", outcome.totals
    times_ms = f"a {unit} takes {ms(totals.after)} instead of {ms(totals.before)}"
    return f"{_how_much(outcome.wall)}: {times_ms}{_because(outcome)}."


def _how_much(wall: Estimate) -> str:
    """Slow-downs in the same way as gains: how many times as long."""
    if wall.expected >= 1:
        return f"{times(wall.expected)} as fast ({times(wall.low)} to {times(wall.high)})"
    longer, least, most = 1 / wall.expected, 1 / wall.high, 1 / wall.low
    return f"{times(longer)} slower ({times(least)} to {times(most)})"


def _no_difference(outcome: Outcome) -> str:
    wall, cpu = outcome.wall, outcome.cpu
    said = f"{times(wall.expected)} ({times(wall.low)} to {times(wall.high)})"
    if wall.is_significant and cpu is not None:
        on_cpu = f"{times(cpu.speedup)} ({times(cpu.low)} to {times(cpu.high)})"
        return (
            f"No difference of the script's own: {said} on a busy machine, but {on_cpu} on the "
            "CPU time of the main thread"
        )
    if outcome.fewest_steps < _FEW_STEPS:
        few = f"{outcome.fewest_steps} measured steps are too few to tell it from noise"
        return f"Perhaps {said}: {few}"
    return f"No difference beyond noise: {said}"


def _because(outcome: Outcome) -> str:
    """The phase that changed most, and the line if one line changed as much."""
    phase = _largest(outcome, "phase")
    if phase is None:
        return ""
    change = phase.after_ns - phase.before_ns
    said = f"; {phase.name} takes {ms(abs(change))} {'less' if change < 0 else 'more'}"
    line = _largest(outcome, "line")
    if line is None or line.location is None:
        return said
    part = (line.after_ns - line.before_ns) / change
    is_it = 1 - _ALIKE <= part <= 1 + _ALIKE
    return said + at(_short(line.location)) if is_it else said


def _short(location: Location) -> Location:
    """In a sentence the file's name is enough."""
    return msgspec.structs.replace(location, file=os.path.basename(location.file))


def _largest(outcome: Outcome, what: str) -> Change | None:
    """In the direction of the whole change, at least half of it, and enough to matter."""
    totals = outcome.totals
    rows = [row for row in outcome.changes if row.what == what]
    if not rows or not totals.change:
        return None
    most = max(rows, key=lambda row: (row.after_ns - row.before_ns) / totals.change)
    change = most.after_ns - most.before_ns
    is_most = change / totals.change >= _MOST_OF_IT and abs(change) >= _MATTERS * totals.longer
    return most if is_most else None
