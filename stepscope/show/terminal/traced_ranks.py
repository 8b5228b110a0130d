"""The ranks view of traces: who comes last and why, and what the collectives carry."""

from typing import Final

from rich.console import RenderableType
from rich.text import Text

from stepscope.model.ranks import TracedRanks
from stepscope.show.terminal.drawing.cells import milliseconds_cell
from stepscope.show.terminal.drawing.numbers import NOTHING, count, size
from stepscope.show.terminal.drawing.page import columns, heading, indented, name

_MOST_ROWS: Final = 10


def traced(answer: TracedRanks) -> list[RenderableType]:
    return [*_arrivals(answer), *_collectives(answer), *_groups(answer)]


def _arrivals(answer: TracedRanks) -> list[RenderableType]:
    if not answer.arrivals:
        return []
    table = columns(("rank", "right"), ("last", "right"), ("holds up", "right"),
                    ("waits", "right"), ("compute", "right"), ("input", "right"),
                    ("host", "right"), ("late by", "fill"))  # fmt: skip
    for row in answer.arrivals[:_MOST_ROWS]:
        table.add_row(
            str(row.rank), count(row.last), milliseconds_cell(row.held_ms),
            milliseconds_cell(row.waiting_ms), milliseconds_cell(row.compute_ms),
            milliseconds_cell(row.input_ms), milliseconds_cell(row.host_ms), row.why or NOTHING,
        )  # fmt: skip
    words = f"at {count(answer.matched)} collectives"
    if answer.imbalance is not None:
        words += f" · the busiest rank computes {answer.imbalance:.2f}× the mean"
    return [Text(""), heading("Arrivals", words), indented(table)]


def _collectives(answer: TracedRanks) -> list[RenderableType]:
    if not answer.collectives:
        return []
    table = columns(("time", "right"), ("calls", "right"), ("message", "right"),
                    ("skew", "right"), ("transfer", "right"), ("bus", "right"),
                    ("last", "right"), ("collective", "fill"))  # fmt: skip
    for row in answer.collectives[:_MOST_ROWS]:
        bus = NOTHING if row.bus_bytes_per_s is None else f"{size(row.bus_bytes_per_s)}/s"
        last = NOTHING if row.last_rank is None else f"rank {row.last_rank}"
        group = "" if row.group is None else f" in group {row.group}"
        table.add_row(
            milliseconds_cell(row.total_ms), count(row.calls), size(row.size_bytes),
            milliseconds_cell(row.skew_ms), milliseconds_cell(row.transfer_ms), bus, last,
            name(row.name + group),
        )  # fmt: skip
    return [Text(""), heading("Collectives"), indented(table)]


def _groups(answer: TracedRanks) -> list[RenderableType]:
    if len(answer.groups) < 2:
        return []
    table = columns(("time", "right"), ("calls", "right"), ("bytes", "right"), ("group", "name"),
                    ("ranks", "fill"))  # fmt: skip
    for row in answer.groups[:_MOST_ROWS]:
        table.add_row(milliseconds_cell(row.total_ms), count(row.calls), size(row.size_bytes),
                      name(row.group), name(row.ranks))  # fmt: skip
    return [Text(""), heading("Process groups"), indented(table)]
