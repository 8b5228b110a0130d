"""The lines to look at first: those that spend the time themselves, not those that pass it on."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from stepscope.analyze.code.possible_callees import COMPREHENSIONS, Names, called_name, place_name
from stepscope.model import FunctionLines, LineRow, LinesAnswer, Location, SummaryAnswer

LEAST_SHARE_OF_RUN: Final = 0.01  # a line that takes less is not worth showing
COSTLY_SHARE: Final = 1e-5  # of the costliest function: among a hundred thousand few have more
_MOST: Final = 5
_LEAST_SHARE: Final = 0.01  # of the hottest
_LEAST_SHARE_OF_A_CALLER: Final = 0.1  # of the hottest, spent by the line itself


class HotLine(NamedTuple):
    """A line and its inclusive time; in a recursion only the outermost calls count."""

    location: Location
    ns: int
    source: str | None


class _Site(NamedTuple):
    """A recorded line and the names of the recorded functions that its text may call."""

    function: FunctionLines
    row: LineRow
    names: frozenset[str]
    is_recursive: bool


class _Callee(NamedTuple):
    """The functions of one name, and the time of all lines that name them."""

    total_ns: int
    calls: int
    sites_ns: int


def hottest_lines(answer: LinesAnswer) -> list[HotLine]:
    """Up to five lines of the main process (or rank 0), by the time they spend themselves.

    A line's time includes what it calls, so
    1. read from each line's text which of the user's functions it calls,
    2. give these functions' time to the lines that call them, by hits and by time: whichever
       gives more, so that in doubt the line inside is reported and not the one that leads there,
    3. order the lines by what is left, with at most one that passes most of its time on.
    """
    main = [function for function in answer.functions if _is_main(function)]
    functions = _costly(main or answer.functions)
    sites = _sites(functions)
    callees = _callees(functions, sites)
    scored = [(_spent_ns(site, callees) - _passed_on_ns(site, callees), site) for site in sites]
    scored.sort(key=lambda score: (-score[0], score[1].function.file, score[1].row.line))
    return [_hot_line(site, callees) for site in _worth_showing(scored)][:_MOST]


def _costly(functions: list[FunctionLines]) -> list[FunctionLines]:
    least_ns = COSTLY_SHARE * max((function.total_ns for function in functions), default=0)
    return [function for function in functions if function.total_ns >= least_ns]


def summary_lines(answer: SummaryAnswer) -> list[HotLine]:
    """The hottest lines of the summary; answers from before sources were kept have no text."""
    sources = [*answer.hottest_source, *([None] * len(answer.hottest))]
    return [
        HotLine(location, ns, source)
        for location, ns, source in zip(answer.hottest, answer.hottest_ns, sources, strict=False)
    ]


def _is_main(function: FunctionLines) -> bool:
    process = function.process
    return process.role == "main" or (process.role == "rank" and process.rank in (0, None))


def _sites(functions: list[FunctionLines]) -> list[_Site]:
    """One per line; a comprehension (its own function before 3.12) is part of the line."""
    names = Names(functions)
    longest: dict[tuple[str, int], _Site] = {}
    for function in functions:
        own = called_name(function)  # a recursive call stays in the function
        for row in function.lines:
            called = names.called_in(row.source or "")
            inner = {place_name(function.file, row.line)} & names.known
            site = _Site(function, row, frozenset((called | inner) - {own}), own in called)
            place = (function.file, row.line)
            if place not in longest or longest[place].row.ns < row.ns:
                longest[place] = site
    return list(longest.values())


def _total_ns(function: FunctionLines) -> int:
    """What its callers pass on to it: of a comprehension, its further lines."""
    if not function.function.endswith(COMPREHENSIONS):
        return function.total_ns
    return sum(row.ns for row in function.lines if row.line != function.first_line)


def _callees(functions: Iterable[FunctionLines], sites: list[_Site]) -> dict[str, _Callee]:
    total_ns: dict[str, int] = {}
    calls: dict[str, int] = {}
    sites_ns: dict[str, int] = {}
    for function in functions:
        name = called_name(function)
        total_ns[name] = total_ns.get(name, 0) + _total_ns(function)
        calls[name] = calls.get(name, 0) + (function.calls or 1)
    for site in sites:
        for name in site.names:
            sites_ns[name] = sites_ns.get(name, 0) + site.row.ns
    return {
        name: _Callee(total_ns[name], calls[name], spent_ns) for name, spent_ns in sites_ns.items()
    }


def _spent_ns(site: _Site, callees: dict[str, _Callee]) -> int:
    """A recursive line counts every level's time again: at most what its callers waited for."""
    callee = callees.get(called_name(site.function))
    if not site.is_recursive or callee is None:
        return site.row.ns
    return min(site.row.ns, callee.sites_ns)


def _passed_on_ns(site: _Site, callees: dict[str, _Callee]) -> float:
    passed_ns = 0.0
    for name in site.names:
        callee = callees[name]
        by_hits = site.row.hits / max(1, callee.calls)
        by_time = site.row.ns / max(1, callee.sites_ns)
        passed_ns += callee.total_ns * min(1.0, max(by_hits, by_time))
    return min(passed_ns, float(site.row.ns))


def _worth_showing(scored: list[tuple[float, _Site]]) -> Iterator[_Site]:
    """Lines that spend a real share; of those that pass most of their time on, only the first."""
    most_ns = scored[0][0] if scored else 0.0
    has_caller = False
    for own_ns, site in scored:
        is_caller = bool(site.names) and own_ns < site.row.ns / 2
        least = _LEAST_SHARE_OF_A_CALLER if is_caller else _LEAST_SHARE
        if own_ns <= 0 or own_ns < least * most_ns or (is_caller and has_caller):
            continue
        has_caller |= is_caller
        yield site


def _hot_line(site: _Site, callees: dict[str, _Callee]) -> HotLine:
    function, row = site.function, site.row
    location = Location(file=function.file, line=row.line, function=function.function)
    return HotLine(location, _spent_ns(site, callees), row.source)
