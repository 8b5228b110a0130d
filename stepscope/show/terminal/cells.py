"""Figures in columns aligned to the right: their units stand below each other."""

from rich.console import RenderableType
from rich.padding import Padding

from stepscope.show.terminal.numbers import NOTHING, padded_duration, padded_size


def duration_cell(ns: float | None, mark: str = "") -> RenderableType:
    return _figure(mark + padded_duration(ns))


def milliseconds_cell(ms: float | None) -> RenderableType:
    return NOTHING if ms is None else duration_cell(ms * 1e6)


def size_cell(size_bytes: float | None) -> RenderableType:
    return _figure(padded_size(size_bytes))


def _figure(words: str) -> RenderableType:
    """Rich drops blanks at the end of what it aligns to the right, but no padding."""
    blanks = len(words) - len(words.rstrip())
    return Padding(words.rstrip(), (0, blanks, 0, 0)) if blanks else words
