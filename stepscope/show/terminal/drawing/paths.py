"""Paths and names that must be short: the end says most, so the beginning is cut."""

import os
from collections import Counter
from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from stepscope.show.terminal.drawing.page import FAINT

_CUT = "…"
_LEAST_WIDTH = 12


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """Each path to the shortest tail that no other has: `train.py`, else `…/mnist/train.py`."""
    wanted = set(paths)
    tails = Counter(tail for path in wanted for tail in _tails(path))
    return {
        path: next((_marked(tail, path) for tail in _tails(path) if tails[tail] == 1), path)
        for path in wanted
    }


def _tails(path: str) -> list[str]:
    """`c`, `b/c`, `a/b/c` of `a/b/c`."""
    parts = path.split(os.sep)
    return [os.sep.join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]


def _marked(tail: str, path: str) -> str:
    """A bare file name needs no sign that folders were cut; a path with folders does."""
    return tail if tail == path or os.sep not in tail else _CUT + os.sep + tail


def cut_path(path: str, width: int) -> str:
    """The longest tail of whole folders and the file name that fits, else the end of the name."""
    if cell_len(path) <= width:
        return path
    fitting = [tail for tail in _tails(path) if cell_len(tail) + 2 <= width]
    if fitting:
        return _CUT + os.sep + fitting[-1]
    end = path
    while end and cell_len(end) >= width:
        end = end[1:]
    return _CUT + end


def short_function(name: str, width: int) -> str:
    """Without the functions around it; a method keeps its class as long as both fit."""
    name = name.rpartition("<locals>.")[2]
    plain = name.rpartition(".")[2]
    if len(name) <= width:
        return name
    return plain if len(plain) <= width else plain[: width - 1] + _CUT


class PathCell:
    """A path whose beginning is cut if its column is too narrow, and the text after it."""

    def __init__(self, path: str, after: str = "") -> None:
        self.path = path
        self.after = after

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        whole = cell_len(self.path + self.after)
        return Measurement(min(_LEAST_WIDTH, whole), whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - cell_len(self.after)
        text = Text(cut_path(self.path, room), no_wrap=True, overflow="ellipsis")
        yield text.append(self.after, style=FAINT)
