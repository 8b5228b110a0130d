"""The comparison in one sentence."""

import dataclasses
import os
from typing import Final

import msgspec

from stepscope.advise.evidence.words import at, ms, times
from stepscope.compare.changes import Totals
from stepscope.model import Location
from stepscope.model.comparison import Change, Ratio

BY_STEP: Final = "mean step"
BY_SAMPLE: Final = "time of a sample"
_FEW_STEPS: Final = 20  # with fewer, a single odd one is more than 5 % of them
_MOST_OF_IT: Final = 0.5  # of the whole change
_MATTERS: Final = 0.05  # of the longer step
_ALIKE: Final = 0.3  # a line's samples and a phase's spans may differ by that much


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the sentence is made of."""

    wall: Ratio
    cpu: Ratio | None  # where that decides
    totals: Totals
    changes: list[Change]
    fewest_steps: int  # measured, of either side

    @property
    def deciding(self) -> Ratio:
        return self.cpu or self.wall


def verdict(outcome: Outcome) -> str:
    said = _difference(outcome) if outcome.deciding.significant else _no_difference(outcome)
    return f"{said}{_because(outcome)}."


def _difference(outcome: Outcome) -> str:
    unit, totals = "sample" if outcome.wall.basis == BY_SAMPLE else "step", outcome.totals
    on_cpu = " on CPU time, as the machine was busy" if outcome.cpu else ""
    took = f"a {unit} takes {ms(totals.after)} instead of {ms(totals.before)}"
    return f"{_how_much(outcome.deciding)}{on_cpu}: {took}"


def _how_much(ratio: Ratio) -> str:
    """Slow-downs in the same way as gains: how many times as long."""
    if ratio.speedup >= 1:
        return f"{times(ratio.speedup)} as fast ({_range(ratio)})"
    longer = msgspec.structs.replace(
        ratio, speedup=1 / ratio.speedup, low=1 / ratio.high, high=1 / ratio.low
    )
    return f"{times(longer.speedup)} slower ({_range(longer)})"


def _range(ratio: Ratio) -> str:
    return f"{times(ratio.low)} to {times(ratio.high)}"


def _no_difference(outcome: Outcome) -> str:
    wall, cpu = (f"{times(each.speedup)} ({_range(each)})" if each else ""
                 for each in (outcome.wall, outcome.cpu))  # fmt: skip
    if cpu:
        whose = "of the script's own" if outcome.wall.significant else "beyond noise"
        return (
            f"No difference {whose}: {cpu} on the CPU time of the main thread, "
            f"{wall} by the clock of a busy machine"
        )
    if outcome.fewest_steps < _FEW_STEPS:
        few = f"{outcome.fewest_steps} measured steps are too few to tell it from noise"
        return f"Perhaps {wall}: {few}"
    return f"No difference beyond noise: {wall}"


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
