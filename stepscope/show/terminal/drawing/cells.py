"""Figures in right-aligned columns, with their units below each other."""

from rich.console import RenderableType
from rich.padding import Padding

from stepscope.show.terminal.drawing.numbers import NOTHING, padded_duration, padded_size


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
