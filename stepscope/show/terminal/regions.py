"""The regions view: named ranges as a tree, with and without the time of the ranges inside."""

from rich.console import RenderableType
from rich.text import Text

from stepscope.model import RegionsAnswer
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import duration_cell
from stepscope.show.terminal.drawing.numbers import count, percent
from stepscope.show.terminal.drawing.page import (
    columns,
    heading,
    indented,
    more,
    name,
    notes_block,
    of_several_processes,
    page,
    process_name,
)

_HOW_TO_MARK = "None. Mark a range with 'with stepscope.region(\"augment\"):' and run again."


def regions(answer: RegionsAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.regions[:top] if top else answer.regions
    if not shown:
        return page([heading("Regions"), indented(Text(_HOW_TO_MARK)), *notes_block(answer.notes)])
    several = of_several_processes(answer.regions)
    table = columns(
        ("region", "name"),
        ("calls", "right"),
        ("total", "right"),
        ("self", "right"),
        ("per call", "right"),
        ("per step", "right"),
        ("share", "right"),
        *((("process", "left"),) if several else ()),
        ("", "fill"),
    )
    for row in shown:
        table.add_row(
            name("  " * row.depth + row.name),
            count(row.calls),
            duration_cell(row.total_ns),
            duration_cell(row.self_ns),
            duration_cell(row.mean_ns),
            duration_cell(row.per_step_ns),
            percent(row.share),
            *((process_name(row.process),) if several else ()),
            Bar(row.share or 0.0, "green"),
        )
    return page(
        [
            heading("Regions", "share is of the measured steps, or of the run if there are none"),
            indented(table),
            *more(len(answer.regions), len(shown), "region"),
            *notes_block(answer.notes),
        ]
    )
