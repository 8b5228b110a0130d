"""Compares findings with what is known, and says how often they were right."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from benchmarks.zoo.measure import Finding, Findings, Gain
from benchmarks.zoo.off_by import by_fault, nine_in_ten, within_others
from benchmarks.zoo.specimens import HELD_OUT, KNOWN, Specimen

Row = TypeVar("Row")
HEADER = [
    "script", "step", "expected", "top finding", "function", "predicted", "measured", "inside",
]  # fmt: skip


class Judged(msgspec.Struct, frozen=True):
    """One script: what is known about it, and what was found. A gain of None was not measured."""

    specimen: Specimen
    found: Findings
    gain: Gain | None

    @property
    def is_healthy(self) -> bool:
        return self.specimen.id is None

    @property
    def top(self) -> Finding | None:
        return self.found.findings[0] if self.found.findings else None

    @property
    def top_is_right(self) -> bool:
        return self.top is not None and self.top.id in self.specimen.ids

    @property
    def function(self) -> str | None:
        return self.top.location.function if self.top and self.top.location else None

    @property
    def function_is_right(self) -> bool | None:
        """None if no single function is at fault."""
        return self.function in self.specimen.function if self.specimen.function else None

    @property
    def prediction(self) -> Finding | None:
        """The finding of the known fault, also if another one is on top."""
        return next((each for each in self.found.findings if each.id in self.specimen.ids), None)

    @property
    def error(self) -> float | None:
        """|log(predicted / measured)|: 0.1 is ten percent off."""
        if self.gain is None or self.prediction is None or self.prediction.speedup is None:
            return None
        return abs(math.log(self.prediction.speedup.expected / self.gain.ratio))

    @property
    def off_by(self) -> float | None:
        """The error as a part of the logarithm of the prediction: how much of a gain is wrong."""
        speedup = self.prediction.speedup if self.prediction else None
        if self.error is None or speedup is None or speedup.expected <= 1:
            return None
        return self.error / math.log(speedup.expected)

    @property
    def width(self) -> float | None:
        """Of the predicted range; without an upper end, as far as up to the measured gain."""
        speedup = self.prediction.speedup if self.prediction else None
        if self.gain is None or speedup is None:
            return None
        high = max(self.gain.ratio, speedup.expected) if speedup.high is None else speedup.high
        return high / speedup.low

    @property
    def is_inside(self) -> bool | None:
        """Whether the measured gain is in the predicted range."""
        if self.gain is None or self.prediction is None or self.prediction.speedup is None:
            return None
        low, high = self.prediction.speedup.low, self.prediction.speedup.high
        return low <= self.gain.ratio and (high is None or self.gain.ratio <= high)


def yes_or_no(holds: bool | None) -> str:
    return {None: "–", True: "yes", False: "**no**"}[holds]


def top_cell(row: Judged) -> str:
    if row.top is None:
        return "nothing" if row.is_healthy else "**nothing**"
    return row.top.id if row.top_is_right else f"**{row.top.id}**"


def function_cell(row: Judged) -> str:
    found = f"`{row.function}`" if row.function else "–"
    return f"**{found}**" if row.function_is_right is False else found


def predicted_cell(row: Judged) -> str:
    speedup = row.prediction.speedup if row.prediction else None
    if speedup is None:
        return "–"
    high = "…" if speedup.high is None else f"{speedup.high:.2f}"
    return f"{speedup.expected:.2f} [{speedup.low:.2f}, {high}]"


def measured_cell(row: Judged) -> str:
    gain = row.gain
    return f"{gain.ratio:.2f} ({gain.low:.2f}–{gain.high:.2f})" if gain else "–"


def cells(row: Judged) -> list[str]:
    return [
        row.specimen.name,
        f"{row.gain.step_ms:.1f} ms" if row.gain else "–",
        row.specimen.id or "healthy",
        top_cell(row),
        function_cell(row),
        predicted_cell(row),
        measured_cell(row),
        yes_or_no(row.is_inside),
    ]


def markdown(header: list[str], lines: Iterable[list[str]]) -> str:
    """A table. A bar in a cell would end it."""
    whole = [header, ["---"] * len(header), *lines]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in whole
    )


def table(rows: Sequence[Judged]) -> str:
    return markdown(HEADER, map(cells, rows))


def share_of(rows: Sequence[Row], holds: Callable[[Row], bool | None]) -> str:
    """Of the rows for which it is known."""
    known = [verdict for verdict in map(holds, rows) if verdict is not None]
    return f"{sum(known)} of {len(known)}" + (f" ({sum(known) / len(known):.0%})" if known else "")


def scores(rows: Sequence[Judged]) -> dict[str, str]:
    faulty = [row for row in rows if not row.is_healthy]
    healthy = [row for row in rows if row.is_healthy]
    errors = [row.error for row in faulty if row.error is not None]
    middle = f"{statistics.median(errors):.3f}" if errors else "–"
    off_by = [
        (row.prediction.id, row.off_by)
        for row in faulty
        if row.prediction and row.off_by is not None
    ]
    left_out, replaced = by_fault(off_by)
    widths = [row.width for row in faulty if row.width is not None]
    alarms = sum(len(row.found.findings) for row in healthy)
    return {
        "right top finding": share_of(faulty, lambda row: row.top_is_right),
        "right function": share_of(faulty, lambda row: row.function_is_right),
        "median |log(predicted / measured)|": f"{middle}, of {len(errors)} predictions",
        "off by, of the logarithm, in nine of ten: work left out": nine_in_ten(left_out),
        "off by, of the logarithm, in nine of ten: other code": nine_in_ten(replaced),
        "within what other kinds of faults are off by": share_of(
            [*within_others(left_out), *within_others(replaced)], lambda holds: holds
        ),
        "measured gain inside the predicted range": share_of(faulty, lambda row: row.is_inside),
        "median width of the ranges": f"{statistics.median(widths):.2f}" if widths else "–",
        "false alarms": f"{alarms} in {len(healthy)} healthy scripts",
    }


def summary(rows: Sequence[Judged]) -> str:
    return "\n".join(f"- {name}: {score}" for name, score in scores(rows).items())


def side_by_side(known: Sequence[Judged], held_out: Sequence[Judged]) -> str:
    other = scores(held_out)
    lines = ([name, score, other[name]] for name, score in scores(known).items())
    return markdown(["score", f"`{KNOWN}/`", f"`{HELD_OUT}/`"], lines)


def page(known: Sequence[Judged], held_out: Sequence[Judged], skipped: Sequence[str]) -> str:
    """benchmarks/zoo/results.md"""
    without = f"Not run, because they could not be imported here: {', '.join(skipped)}.\n\n"
    return f"""# What stepscope finds in scripts whose fault is known

Made by `make zoo`; do not edit. Each script has one fault, and a switch `--fixed` that removes it.
Those in `{KNOWN}/` were at hand when the rules were made; those in `{HELD_OUT}/` are not looked at
meanwhile, and show what the findings are worth on scripts that nobody has seen.
"Top finding" and "function" are those of one recorded run; bold is wrong.
"Predicted" is the finding's promise for the known fault, with … where the run does not support an
upper end; "measured" is the ratio of the mean steps of plain runs without and with `--fixed`, in
turns: that of the quietest runs, and in brackets the least and the greatest of a round.
One compute thread, except where a script asks for more.

{side_by_side(known, held_out)}

{without if skipped else ""}## `{KNOWN}/`

{table(known)}

## `{HELD_OUT}/`

{table(held_out)}
"""


def page_of_some(rows: Sequence[Judged]) -> str:
    """Of the scripts that were asked for, which may be new."""
    return f"""# What stepscope finds in some of the scripts

Made by `python -m benchmarks.zoo --page FILE NAMES`; do not edit. The columns are those of
[the whole zoo](results.md).

{summary(rows)}

{table(rows)}
"""
