"""The functions' table, limited so that the file stays small; callers and callees as indexes."""

from typing import Final

from stepscope.analyze.code.function_numbers import FunctionNumbers
from stepscope.model import CallRow, FunctionRow, FunctionsAnswer
from stepscope.show.report.shapes import Caller, FunctionTable, ShownFunction

_MOST: Final = 600  # by own time, and again by time with callees
_MOST_CALLERS: Final = 8


def function_table(
    answer: FunctionsAnswer, numbers: FunctionNumbers, reduced: list[str]
) -> FunctionTable:
    rows = _longest(answer.functions)
    if len(rows) < len(answer.functions):
        reduced.append(
            f"Of {len(answer.functions):,} functions the {len(rows):,} longest are here."
        )
    return FunctionTable(
        functions=[_shown(row, numbers) for row in rows], exact=answer.exact, notes=answer.notes
    )


def _longest(rows: list[FunctionRow]) -> list[FunctionRow]:
    by_own = rows[:_MOST]
    kept = {id(row) for row in by_own}
    by_all = sorted(rows, key=lambda row: -(row.cumtime_ns or 0))[:_MOST]
    return by_own + [row for row in by_all if id(row) not in kept]


def _shown(row: FunctionRow, numbers: FunctionNumbers) -> ShownFunction:
    return ShownFunction(
        file=row.file,
        line=row.line,
        function=row.function,
        process=row.process,
        ncalls=row.ncalls,
        primitive_calls=row.primitive_calls,
        tottime_ns=row.tottime_ns,
        cumtime_ns=row.cumtime_ns,
        estimated=row.estimated,
        callers=_callers(row.callers, numbers),
        callees=_callers(row.callees, numbers),
    )


def _callers(rows: list[CallRow], numbers: FunctionNumbers) -> list[Caller]:
    return [
        (numbers.of(row.function, row.file, row.line), row.ncalls, row.tottime_ns, row.cumtime_ns)
        for row in rows[:_MOST_CALLERS]
    ]
