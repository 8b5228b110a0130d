"""The single steps: their times as one line, and as a table with one row per step."""

import statistics
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model import Step
from stepscope.show.terminal.drawing.bars import Sparkline
from stepscope.show.terminal.drawing.cells import duration_cell
from stepscope.show.terminal.drawing.numbers import count, duration
from stepscope.show.terminal.drawing.page import FAINT, columns, heading, indented, more

_LEAST_STEPS: Final = 10  # fewer show no trend
_TALLEST: Final = 4  # in medians; one very slow step must not flatten all others
_MOST_CATEGORIES: Final = 4  # that fit side by side in 80 columns
_REST: Final = "rest"
_LEFT_OUT: Final = "left out: warm-up, operator windows, compilations"


def course(each: list[Step]) -> list[RenderableType]:
    """The steps' times from first to last as a sparkline, and the slowest in words."""
    if len(each) < _LEAST_STEPS:
        return []
    times_ns = [step.duration_ns for step in _in_order(each)]
    slowest = max(_in_order(each), key=lambda step: step.duration_ns)
    top_ns = _TALLEST * statistics.median(times_ns)
    words = f"slowest {duration(slowest.duration_ns)} (step {count(slowest.number)})"
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column()
    grid.add_column(no_wrap=True)
    line = Sparkline([min(time_ns, top_ns) for time_ns in times_ns], "green")
    grid.add_row(line, Text(words, style=FAINT))
    return [indented(grid)]


def each_block(each: list[Step], *, top: int | None) -> RenderableType:
    """One row per step, in the given order, with the largest categories side by side."""
    shown = each[:top] if top else each
    categories = _largest_categories(each)
    table = columns(
        ("step", "right"),
        ("start", "right"),
        ("time", "right"),
        *((category, "right") for category in categories),
        ("", "left"),
    )
    for step in shown:
        table.add_row(
            count(step.number),
            duration_cell(step.start_ns),
            duration_cell(step.duration_ns),
            *(_category_cell(step, category, categories) for category in categories),
            "" if step.measured else "left out",
            style="" if step.measured else FAINT,
        )
    aside = "" if all(step.measured for step in each) else _LEFT_OUT
    return Group(heading("Each step", aside), indented(table), *more(len(each), len(shown), "step"))


def _in_order(each: list[Step]) -> list[Step]:
    return sorted(each, key=lambda step: step.start_ns)


def _largest_categories(each: list[Step]) -> list[str]:
    """Largest first; what does not fit is summed in one column."""
    total_ns: dict[str, int] = {}
    for step in each:
        for category, ns in step.phases.items():
            total_ns[category] = total_ns.get(category, 0) + ns
    found = sorted(filter(total_ns.__getitem__, total_ns), key=lambda name: -total_ns[name])
    if len(found) <= _MOST_CATEGORIES:
        return found
    return [*found[: _MOST_CATEGORIES - 1], _REST]


def _category_cell(step: Step, category: str, categories: list[str]) -> RenderableType:
    ns = step.phases.get(category, 0)
    if category == _REST:
        ns = sum(time for name, time in step.phases.items() if name not in categories)
    return duration_cell(ns) if ns else ""
