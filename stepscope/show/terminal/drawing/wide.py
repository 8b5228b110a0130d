"""A table of many columns: complete in a pipe or file, on a terminal as much of it as fits, and
below it which columns do not."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from stepscope.show.terminal.drawing.cells import middled
from stepscope.show.terminal.drawing.page import FAINT

_GAP: Final = "  "
_INDENT: Final = "  "


class Column(NamedTuple):
    title: str
    cells: Sequence[str]
    weight: int  # if there is no room, columns with the lowest weight are dropped first
    is_left: bool = False
    most: int | None = None  # characters on a terminal
    short: Sequence[str] | None = None  # what a terminal shows instead


class WideTable:
    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width if options.is_terminal else None
        columns = self._columns if room is None else [_shortened(each) for each in self._columns]
        chosen = _fitting(columns, room)
        head = _row([column.title for column in chosen], chosen, room)
        yield Text(head, style=FAINT, no_wrap=True, overflow="ignore")
        for number in range(len(chosen[0].cells)):
            cells = [column.cells[number] for column in chosen]
            yield Text(_row(cells, chosen, room), no_wrap=True, overflow="ignore")
        titles = {column.title for column in chosen}
        left_out = [column.title for column in self._columns if column.title not in titles]
        if left_out:
            words = f"{_INDENT}no room for {', '.join(left_out)}"
            yield Text(words, style=FAINT, no_wrap=True, overflow="ellipsis")


def _shortened(column: Column) -> Column:
    return column if column.short is None else column._replace(cells=column.short)


def _fitting(columns: Sequence[Column], room: int | None) -> list[Column]:
    chosen = list(columns)
    while room is not None and len(chosen) > 2:
        widths = sum(_width(column, room) + len(_GAP) for column in chosen) + len(_INDENT)
        if widths <= room + len(_GAP):
            break
        chosen.remove(min(chosen, key=lambda column: column.weight))
    return chosen


def _width(column: Column, room: int | None) -> int:
    widest = max(map(len, (column.title, *column.cells)))
    return widest if room is None or column.most is None else min(widest, column.most)


def _row(cells: Sequence[str], columns: Sequence[Column], room: int | None) -> str:
    parts = []
    for cell, column in zip(cells, columns, strict=True):
        width = _width(column, room)
        short = middled(cell, width)
        parts.append(short.ljust(width) if column.is_left else short.rjust(width))
    return (_INDENT + _GAP.join(parts)).rstrip()
