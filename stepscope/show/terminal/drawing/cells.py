"""Cells: figures with their units below each other, and names that keep their end."""

from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

from stepscope.show.terminal.drawing.numbers import NOTHING, padded_duration, padded_size

_LEAST: Final = 16  # of a name, in characters


class KeepsEnd:
    """`…torch/_ops.py:116(call)`: where it is too long, its beginning is cut, not the function."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, words = options.max_width, self._words
        if cell_len(words) > width:
            words = "…" + set_cell_size(words[::-1], max(0, width - 1))[::-1].lstrip()
        yield Text(words, no_wrap=True, overflow="ellipsis")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        wide = cell_len(self._words)
        return Measurement(min(_LEAST, wide), wide)


class KeepsEnds:
    """`autograd::engine::eva…: ReluBackward0`: names that begin alike differ at their ends."""

    def __init__(self, words: str, style: str = "") -> None:
        self._words = words
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        words = middled(self._words, options.max_width)
        yield Text(words, style=self._style, no_wrap=True, overflow="ellipsis")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        wide = cell_len(self._words)
        return Measurement(min(_LEAST, wide), wide)


def middled(words: str, width: int) -> str:
    """Cut in the middle, with more of the beginning."""
    if len(words) <= width:
        return words
    tail = width * 2 // 5
    return words[: width - tail - 1] + "…" + words[len(words) - tail :]


def duration_cell(ns: float | None, mark: str = "") -> RenderableType:
    return _figure(mark + padded_duration(ns))


def milliseconds_cell(ms: float | None) -> RenderableType:
    return NOTHING if ms is None else duration_cell(ms * 1e6)


def size_cell(size_bytes: float | None) -> RenderableType:
    return _figure(padded_size(size_bytes))


def _figure(words: str) -> RenderableType:
    """Rich drops trailing blanks of right-aligned text, but not padding."""
    blanks = len(words) - len(words.rstrip())
    return Padding(words.rstrip(), (0, blanks, 0, 0)) if blanks else words
