"""The lines to look at first: those that spend the time themselves, not those that pass it on."""

import re
from collections.abc import Iterable
from typing import Final

from stepscope.model import FunctionLines, LineRow, LinesAnswer, Location

_CALLED: Final = re.compile(r"(\w+)\s*\(")
_MOST: Final = 5
_LEAST_SHARE: Final = 0.01  # of the hottest


def hottest_lines(answer: LinesAnswer) -> list[tuple[Location, int]]:
    """Up to five lines of the main process (or rank 0) with their inclusive ns.

    A line's time includes what it calls. Where its text names other functions of the user's, their
    time, as far as this line's hits account for it, is theirs.
    """
    functions = [function for function in answer.functions if _is_main(function)]
    by_name = _by_name(functions)
    scored = [
        (_own_ns(row, function, by_name), row.ns, function, row)
        for function in functions
        for row in function.lines
    ]
    scored.sort(key=lambda score: (-score[0], score[2].file, score[3].line))
    least = _LEAST_SHARE * scored[0][0] if scored else 0.0
    return [
        (Location(file=function.file, line=row.line, function=function.function), ns)
        for own_ns, ns, function, row in scored[:_MOST]
        if own_ns > 0 and own_ns >= least
    ]


def _is_main(function: FunctionLines) -> bool:
    process = function.process
    return process.role == "main" or (process.role == "rank" and process.rank in (0, None))


def _by_name(functions: Iterable[FunctionLines]) -> dict[str, list[FunctionLines]]:
    """By the name that a call uses: a class's for its __init__."""
    named: dict[str, list[FunctionLines]] = {}
    for function in functions:
        parts = function.function.split(".")
        name = parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]
        named.setdefault(name, []).append(function)
    return named


def _own_ns(
    row: LineRow, function: FunctionLines, by_name: dict[str, list[FunctionLines]]
) -> float:
    passed_on = 0.0
    if row.source and not row.source.lstrip().startswith(("def ", "class ", "async def ")):
        for name in set(_CALLED.findall(row.source)):
            for called in by_name.get(name, ()):
                if called is not function:
                    portion = min(1.0, row.hits / max(1, called.calls or 1))
                    passed_on += called.total_ns * portion
    return max(0.0, row.ns - passed_on)
