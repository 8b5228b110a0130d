"""Bars and sparklines: a share of a width, drawn in eighths of a character."""

import itertools
from collections.abc import Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS: Final = "_.-=+*#@"
_LEAST_WIDTH: Final = 4
_MOST_WIDTH: Final = 60


class Bar:
    """A horizontal bar that fills `share` of its column."""

    def __init__(self, share: float, style: str) -> None:
        self.share = min(max(share, 0.0), 1.0)
        self.style = style

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_LEAST_WIDTH, _MOST_WIDTH)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        drawn = bar_text(self.share, options.max_width, ascii_only=options.ascii_only)
        yield Text(drawn, style=self.style, no_wrap=True, overflow="crop")


def bar_text(share: float, width: int, *, ascii_only: bool) -> str:
    """The characters of a bar; a share above zero always shows at least a sliver."""
    if ascii_only:
        return "#" * max(round(share * width), 1 if share > 0 else 0)
    eighths = max(round(share * width * 8), 1 if share > 0 else 0)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


class Sparkline:
    """Values over time as one row of small columns; each column is the largest of its values."""

    def __init__(self, values: Sequence[float], style: str, width: int = _MOST_WIDTH) -> None:
        self.values = values
        self.style = style
        self.width = width

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = max(min(len(self.values), self.width), 1)
        return Measurement(min(_LEAST_WIDTH, widest), widest)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        levels = _ASCII_LEVELS if options.ascii_only else _LEVELS
        drawn = sparkline_text(self.values, min(options.max_width, self.width), levels)
        yield Text(drawn, style=self.style, no_wrap=True, overflow="crop")


def sparkline_text(values: Sequence[float], width: int, levels: str = _LEVELS) -> str:
    columns = _largest_of_each(values, width)
    top = max(columns, default=0.0)
    if top <= 0:
        return levels[0] * len(columns)
    steps = len(levels) - 1
    return "".join(levels[round(max(value, 0) / top * steps)] for value in columns)


def _largest_of_each(values: Sequence[float], width: int) -> list[float]:
    if len(values) <= width:
        return list(values)
    edges = [index * len(values) // width for index in range(width + 1)]
    return [max(values[low:high]) for low, high in itertools.pairwise(edges)]
