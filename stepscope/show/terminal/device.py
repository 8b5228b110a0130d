"""The device view: how much of its time each device worked, and why not all of it."""

from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.model.ops import DeviceAnswer, DeviceRow
from stepscope.model.phase_colours import phase_colour
from stepscope.show.terminal.device_details import details
from stepscope.show.terminal.drawing.bars import Bar
from stepscope.show.terminal.drawing.cells import KeepsEnds, duration_cell
from stepscope.show.terminal.drawing.kernels import kernel_name
from stepscope.show.terminal.drawing.numbers import count, counted, duration, percent
from stepscope.show.terminal.drawing.page import (
    columns,
    heading,
    indented,
    more,
    notes_block,
    page,
)

_MOST_KERNELS: Final = 10
_STYLES: Final = {
    "compute": phase_colour("compute"),
    "communication": phase_colour("communication"),
    "not overlapped": phase_colour("communication"),
    "copies": phase_colour("transfer"),
}


def device(answer: DeviceAnswer, *, top: int | None = None) -> RenderableType:
    if not answer.ranks:
        nothing = indented(Text(NOTHING_TO_SHOW["device"]))
        return page([heading("Device"), nothing, *notes_block(answer.notes)])
    parts: list[RenderableType] = []
    for row in answer.ranks:
        about = _about(row, name_trace=len({each.trace for each in answer.ranks}) > 1)
        parts += [heading(_title(row), about), indented(_times(row)), Text("")]
        shown = row.kernels[: _MOST_KERNELS if top is None else top or None]
        parts += [indented(_kernels(row, len(shown)))]
        parts += more(len(row.kernels), len(shown), "kernel")
        if row.details is not None:
            parts += details(row.details, row.wall_ns, top)
        parts.append(Text(""))
    return page([*parts[:-1], *notes_block(answer.notes)])


def _title(row: DeviceRow) -> str:
    words = ["Device" if row.device is None else f"Device {row.device}"]
    return " ".join(words if row.rank is None else [*words, f"of rank {row.rank}"])


def _about(row: DeviceRow, *, name_trace: bool) -> str:
    words = [f"{duration(row.wall_ns)} from the first kernel to the last"]
    if row.steps:
        words.append(counted(row.steps, "step"))
    if row.trace and name_trace:
        words.append(row.trace)
    return " · ".join(words)


def _times(row: DeviceRow) -> Table:
    """Shares of the wall time; an indented row is part of the row above it."""
    table = columns(("", "label"), ("", "fill"), ("time", "right"), ("share", "right"))
    rows = [
        ("busy", row.busy_ns),
        ("  compute", row.compute_ns),
        ("  communication", row.communication_ns),
        ("    not overlapped", row.exposed_communication_ns),
        ("  copies", row.memcpy_ns),
        ("    memory set", row.memset_ns),
        ("idle", row.idle_ns),
        ("  host too late", row.idle.host_wait_ns),
        ("  between kernels", row.idle.kernel_wait_ns),
        ("  other", row.idle.other_ns),
    ]
    for title, ns in rows:
        if ns or not title.startswith(" "):
            share = ns / max(1, row.wall_ns)
            bar = Bar(share, _STYLES.get(title.strip(), "dim" if "idle" in title else "blue"))
            table.add_row(title, bar, duration_cell(ns), percent(share))
    return table


def _kernels(row: DeviceRow, shown: int) -> Table:
    table = columns(("time", "right"), ("share", "right"), ("calls", "right"), ("kernel", "fill"))
    whole_ns = max(1, sum(each.total_ns for each in row.kernels))
    for each in row.kernels[:shown]:
        table.add_row(
            duration_cell(each.total_ns),
            percent(each.total_ns / whole_ns),
            count(each.calls),
            KeepsEnds(kernel_name(each.name)),
        )
    return table
