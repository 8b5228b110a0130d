"""The ranks view of traces: who comes last and why, and what the collectives carry."""

from typing import Final

from rich.console import RenderableType
from rich.text import Text

from stepscope.model.ranks import TracedRanks
from stepscope.show.terminal.drawing.cells import milliseconds_cell
from stepscope.show.terminal.drawing.numbers import (
    NOTHING,
    count,
    counted,
    digits,
    milliseconds,
    size,
)
from stepscope.show.terminal.drawing.page import columns, heading, indented, more, name

_MOST_ROWS: Final = 10


def traced(answer: TracedRanks, *, top: int | None) -> list[RenderableType]:
    most = _MOST_ROWS if top is None else top or None
    return [*_arrivals(answer, most), *_collectives(answer, most), *_groups(answer, most)]


def _arrivals(answer: TracedRanks, most: int | None) -> list[RenderableType]:
    if not answer.arrivals:
        return []
    table = columns(("rank", "right"), ("last", "right"), ("holds up", "right"),
                    ("waits", "right"), ("compute", "right"), ("input", "right"),
                    ("host", "right"), ("late by", "fill"))  # fmt: skip
    for row in answer.arrivals[:most]:
        table.add_row(
            str(row.rank), count(row.last), milliseconds_cell(row.held_ms),
            milliseconds_cell(row.waiting_ms), milliseconds_cell(row.compute_ms),
            milliseconds_cell(row.input_ms), milliseconds_cell(row.host_ms), row.why or NOTHING,
        )  # fmt: skip
    words = f"at {counted(answer.matched, 'collective')}"
    if answer.imbalance is not None:
        words += f" · the busiest rank computes {digits(answer.imbalance)}× the mean"
    return [Text(""), heading("Arrivals", words), indented(table)]


def _collectives(answer: TracedRanks, most: int | None) -> list[RenderableType]:
    """Of a single rank, nothing is known about arrivals; not all traces say what is sent."""
    rows = answer.collectives[:most]
    if not rows:
        return []
    shown = {
        title: cells
        for title, cells in {
            "message": [size(row.size_bytes) for row in rows],
            "skew": [milliseconds(row.skew_ms) for row in rows],
            "transfer": [milliseconds(row.transfer_ms) for row in rows],
            "alg B/s": [size(row.algorithm_bytes_per_s) for row in rows],
            "bus B/s": [size(row.bus_bytes_per_s) for row in rows],
        }.items()
        if any(cell != NOTHING for cell in cells)
    }
    table = columns(("time", "right"), ("calls", "right"), *((title, "right") for title in shown),
                    ("collective", "fill"))  # fmt: skip
    several = len({row.group for row in rows}) > 1
    for row, *cells in zip(rows, *shown.values(), strict=True):
        group = f", group {row.group}" if several and row.group is not None else ""
        table.add_row(milliseconds_cell(row.total_ms), count(row.calls), *map(Text, cells),
                      name(row.name + group))  # fmt: skip
    hidden = more(len(answer.collectives), len(rows), "kind")
    return [Text(""), heading("Collectives"), indented(table), *hidden]


def _groups(answer: TracedRanks, most: int | None) -> list[RenderableType]:
    if len(answer.groups) < 2:
        return []
    table = columns(("time", "right"), ("calls", "right"), ("bytes", "right"), ("group", "name"),
                    ("ranks", "fill"))  # fmt: skip
    for row in answer.groups[:most]:
        table.add_row(milliseconds_cell(row.total_ms), count(row.calls), size(row.size_bytes),
                      name(row.group), name(row.ranks))  # fmt: skip
    return [Text(""), heading("Process groups"), indented(table)]
