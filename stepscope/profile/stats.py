"""What was counted, in cProfile's two forms: the entries of `getstats`, and the dict for pstats."""

from types import CodeType
from typing import NamedTuple

Code = CodeType | str  # of functions in C: their label
Key = tuple[str, int, str]  # file, first line, name
Figures = tuple[int, int, float, float]
Stats = dict[Key, tuple[int, int, float, float, dict[Key, Figures]]]


class SubEntry(NamedTuple):
    """The calls of one function by one caller."""

    code: Code
    callcount: int
    reccallcount: int  # how many of them were recursive
    totaltime: float  # with what it calls, outermost calls only
    inlinetime: float  # without


class Entry(NamedTuple):
    """All calls of one function."""

    code: Code
    callcount: int
    reccallcount: int
    totaltime: float
    inlinetime: float
    calls: list[SubEntry] | None  # what it calls


def stats_of(entries: list[Entry]) -> Stats:
    """Functions with one name and place (two lambdas on a line) are summed, as pstats needs it."""
    stats: Stats = {}
    for entry in entries:
        key = _key(entry.code)
        primitive = entry.callcount - entry.reccallcount
        own = primitive, entry.callcount, entry.inlinetime, entry.totaltime
        before = stats.get(key)
        stats[key] = (*own, {}) if before is None else (*_plus(own, before[:4]), before[4])
    for entry in entries:
        for callee in entry.calls or ():
            _add_caller(stats, _key(entry.code), callee)
    return stats


def _add_caller(stats: Stats, caller: Key, callee: SubEntry) -> None:
    """pstats wants all calls first here, but the primitive calls first above."""
    primitive = callee.callcount - callee.reccallcount
    figures = callee.callcount, primitive, callee.inlinetime, callee.totaltime
    if (of_callee := stats.get(_key(callee.code))) is not None:
        callers = of_callee[4]
        callers[caller] = _plus(figures, callers.get(caller, (0, 0, 0.0, 0.0)))


def _key(code: Code) -> Key:
    if isinstance(code, str):
        return "~", 0, code
    return code.co_filename, code.co_firstlineno, code.co_name


def _plus(one: Figures, other: Figures) -> Figures:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]
