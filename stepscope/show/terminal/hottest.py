"""The hottest lines as a table: how long, where, in which function, and the line itself."""

from typing import Final

from rich.console import RenderableType
from rich.text import Text

from stepscope.analyze.answers.headline import Headline
from stepscope.analyze.code.hottest_lines import LEAST_SHARE_OF_RUN, HotLine
from stepscope.show.terminal.drawing.cells import duration_cell
from stepscope.show.terminal.drawing.numbers import percent
from stepscope.show.terminal.drawing.page import (
    CODE,
    FAINT,
    columns,
    heading,
    indented,
    name,
    place,
)
from stepscope.show.terminal.drawing.paths import short_function, short_paths

_FUNCTION_WIDTH: Final = 16  # leaves half of 80 columns for the source


def line_block(line: Headline) -> list[RenderableType]:
    """The one line that takes much of the run."""
    text = name(f"{line.words} ", "bold")
    if line.location is not None:
        text.append(place(line.location, short_paths([line.location.file])), style=CODE)
    return [text.append(f"  {line.source}"), Text("")]


def hottest_block(lines: list[HotLine], *, run_ns: int | None = None) -> list[RenderableType]:
    """A heading and a table; nothing if no line takes a notable share of the run."""
    worth = [line for line in lines if line.ns >= LEAST_SHARE_OF_RUN * (run_ns or 0)]
    if not worth:
        return []
    names = short_paths(line.location.file for line in worth)
    table = columns(
        ("time", "right"),
        *((("of run", "right"),) if run_ns else ()),
        ("where", "name"),
        ("in", "name"),
        ("line", "fill"),
    )
    for line in worth:
        table.add_row(
            duration_cell(line.ns),
            *((percent(line.ns / run_ns),) if run_ns else ()),
            name(place(line.location, names), CODE),
            name(short_function(line.location.function or "", _FUNCTION_WIDTH), FAINT),
            Text((line.source or "").strip(), style="bold"),
        )
    return [heading("Hottest lines", "including what they call"), indented(table), Text("")]
