"""The comparison in one sentence."""

import os
from typing import Final

import msgspec

from stepscope.advise.evidence.words import at, ms, times
from stepscope.compare.changes import Totals
from stepscope.compare.statistics.speedup import Estimate
from stepscope.model import Location
from stepscope.model.comparison import Change, Ratio

_ALIKE: Final = 0.3  # a line's samples and a phase's spans may differ by that much


def verdict(
    wall: Estimate,
    totals: Totals,
    changes: list[Change],
    cpu: Ratio | None,
    *,
    is_significant: bool,
    by_sample: bool,
) -> str:
    unit = "sample" if by_sample else "step"
    if not is_significant:
        return _no_difference(wall, cpu)
    times_ms = f"a {unit} takes {ms(totals.after)} instead of {ms(totals.before)}"
    return f"{_how_much(wall)}: {times_ms}{_because(totals, changes)}."


def _how_much(wall: Estimate) -> str:
    """Slow-downs in the same way as gains: how many times as long."""
    if wall.expected >= 1:
        return f"{times(wall.expected)} as fast ({times(wall.low)} to {times(wall.high)})"
    longer, least, most = 1 / wall.expected, 1 / wall.high, 1 / wall.low
    return f"{times(longer)} slower ({times(least)} to {times(most)})"


def _no_difference(wall: Estimate, cpu: Ratio | None) -> str:
    said = f"{times(wall.expected)} ({times(wall.low)} to {times(wall.high)})"
    if wall.is_significant and cpu is not None:
        on_cpu = f"{times(cpu.speedup)} ({times(cpu.low)} to {times(cpu.high)})"
        return (
            f"No difference of the script's own: {said} on a busy machine, but {on_cpu} on the "
            "CPU time of the main thread."
        )
    return f"No difference beyond noise: {said}."


def _because(totals: Totals, changes: list[Change]) -> str:
    """The phase that changed most, and the line if one line changed as much."""
    phase = _largest(totals, changes, "phase")
    if phase is None:
        return ""
    change = phase.after_ns - phase.before_ns
    said = f"; {phase.name} takes {ms(abs(change))} {'less' if change < 0 else 'more'}"
    line = _largest(totals, changes, "line")
    if line is None or line.location is None:
        return said
    part = (line.after_ns - line.before_ns) / change
    is_it = 1 - _ALIKE <= part <= 1 + _ALIKE
    return said + at(_short(line.location)) if is_it else said


def _short(location: Location) -> Location:
    """In a sentence the file's name is enough."""
    return msgspec.structs.replace(location, file=os.path.basename(location.file))


def _largest(totals: Totals, changes: list[Change], what: str) -> Change | None:
    """In the direction of the whole change, and at least half of it."""
    rows = [row for row in changes if row.what == what]
    most = max(rows, key=lambda row: (row.after_ns - row.before_ns) / totals.change, default=None)
    if most is None or (most.after_ns - most.before_ns) / totals.change < 0.5:
        return None
    return most
