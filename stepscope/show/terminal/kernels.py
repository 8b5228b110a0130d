"""The kernels view: what ran on the device, and which operator and line launched it."""

from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from stepscope.model.ops import KernelsAnswer
from stepscope.show.terminal.drawing.kernels import kernel_name
from stepscope.show.terminal.drawing.numbers import (
    NOTHING,
    count,
    duration,
    padded_duration,
    percent,
)
from stepscope.show.terminal.drawing.page import (
    FAINT,
    heading,
    indented,
    more,
    notes_block,
    page,
    place,
)
from stepscope.show.terminal.drawing.paths import short_paths
from stepscope.show.terminal.drawing.wide import Column, WideTable
from stepscope.show.terminal.ops import windows_words

_LONGEST: Final = 60  # longest name on a terminal, in characters


def kernels(answer: KernelsAnswer, *, top: int | None = None) -> RenderableType:
    shown = answer.kernels[:top] if top else answer.kernels
    parts: list[RenderableType] = [heading("On the device", windows_words(answer.windows))]
    if not shown:
        return page([*parts, indented(Text("Nothing.")), *notes_block(answer.notes)])
    files = short_paths(row.location.file for row in shown if row.location is not None)
    several = len({row.device for row in answer.kernels}) > 1
    table = WideTable(
        [
            *([Column("device", [str(row.device) for row in shown], 97)] if several else []),
            Column("share", [percent(row.share) for row in shown], 90),
            Column("time", [padded_duration(row.total_ns) for row in shown], 95),
            Column("calls", [count(row.calls) for row in shown], 80),
            Column("mean", [padded_duration(row.mean_ns) for row in shown], 30),
            Column("launched by", [row.operator or NOTHING for row in shown], 70, True, 40),
            Column("where", [place(row.location, files) for row in shown], 60, True),
            Column(
                "name",
                [row.name for row in shown],
                99,
                True,
                _LONGEST,
                [kernel_name(row.name) for row in shown],
            ),
        ]
    )
    whole_ns = sum(row.total_ns for row in answer.kernels)
    parts += [table, Text(f"  {duration(whole_ns)} in all", style=FAINT)]
    parts += more(len(answer.kernels), len(shown), "kernel")
    return Group(*parts, page(notes_block(answer.notes)))
