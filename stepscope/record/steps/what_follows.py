"""Whether the script still has loops to come: one that makes the data is followed by the training.

Asked while a loop turns, of the functions that are running: what stands behind it in each, and what
is called there. A report, a plot or a file that is written has no loop of the user's, and does not
count.
"""

import dis
from collections.abc import Container, Iterable, Iterator
from types import CodeType, FrameType
from typing import Final

from stepscope.record.code.code_table import CodeEntry, CodeTable

# Of libraries: what trains without a loop of the user's.
_TRAIN: Final = frozenset({"fit", "train", "minimize", "scan", "fori_loop", "while_loop"})


def loops_follow(frames: Iterable[FrameType], table: CodeTable, begun: Container[int] = ()) -> bool:
    """`frames`: from the innermost outwards. `begun`: loops that have turned already."""
    running: set[str] = set()
    for frame in frames:
        entry = table.find(frame.f_code)
        if entry is None:
            continue
        ahead = _Ahead(table, begun, running)
        if ahead.has_loop(entry, after=_last_line(entry, frame.f_lineno)):
            return True
        running = {frame.f_code.co_name}
    return False


class _Ahead:
    """What is still to come. `seen`: names that say nothing more."""

    def __init__(self, table: CodeTable, begun: Container[int], seen: set[str]) -> None:
        self._table, self._begun, self._seen = table, begun, seen

    def has_loop(self, entry: CodeEntry, after: int = 0) -> bool:
        """Behind this line, in the function or in what it names there."""
        loops = zip(entry.loops, entry.loop_ids, strict=False)
        if any(loop.line > after and number not in self._begun for loop, number in loops):
            return True
        names = set(_names(entry.code, after)) - self._seen
        self._seen |= names
        called = [each for each in self._table.entries if _is_named(each.code, names)]
        of_libraries = names - {each.code.co_name for each in called}
        return bool(of_libraries & _TRAIN) or any(map(self.has_loop, called))


def _is_named(code: CodeType, names: set[str]) -> bool:
    """By its own name; a method also by that of its class, which may be called like a function."""
    return code.co_name in names or code.co_qualname.partition(".")[0] in names


def any_left(table: CodeTable, begun: Container[int]) -> bool:
    """Whether any loop of the user's has not turned yet, wherever it is."""
    return any(number not in begun for entry in table.entries for number in entry.loop_ids)


def _last_line(entry: CodeEntry, line: int) -> int:
    """Of the loops that run. Outside of one, the rest of the line is still to come: in
    `train(prepare())`, the training."""
    around = [loop.last_line for loop in entry.loops if loop.line <= line <= loop.last_line]
    return max(around, default=line - 1)


def _names(code: CodeType, after: int) -> Iterator[str]:
    for each in dis.get_instructions(code):
        line = each.positions.lineno if each.positions else None
        is_name = each.opname.startswith("LOAD_") and isinstance(each.argval, str)
        if is_name and line is not None and line > after:
            yield each.argval
