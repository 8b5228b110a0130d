"""The functions view: pstats' columns, and on request a function's callers or callees."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stepscope.model import CallRow, FunctionRow, FunctionsAnswer, Process
from stepscope.model.nothing_to_show import NOTHING_TO_SHOW
from stepscope.show.terminal.drawing.cells import KeepsEnd
from stepscope.show.terminal.drawing.numbers import NOTHING, count, counted, duration
from stepscope.show.terminal.drawing.page import (
    FAINT,
    columns,
    heading,
    indented,
    more,
    name,
    notes_block,
    of_several_processes,
    page,
    process_name,
)
from stepscope.show.terminal.drawing.paths import short_paths

NATIVE_FILE: Final = "~"
ESTIMATE_LEGEND: Final = "~ an estimate, from samples or from thinned-out lines."


def functions(
    answer: FunctionsAnswer, *, top: int | None = None, relation: str | None = None
) -> RenderableType:
    """All functions or the first `top`; `relation` "callers" or "callees" lists those of each."""
    shown = answer.functions[:top] if top else answer.functions
    if not shown:
        nothing = indented(Text(NOTHING_TO_SHOW["functions"]))
        return page([heading("Functions"), nothing, *notes_block(answer.notes)])
    files = short_paths(
        file
        for row in shown
        for file in (row.file, *(each.file for each in (*row.callers, *row.callees)))
    )
    several = of_several_processes(answer.functions)
    if relation is None:
        table = _table(shown, files, name_process=several)
    else:
        table = _relations(shown, files, relation)
    parts: list[RenderableType] = [_title(answer, relation), indented(table)]
    if any(row.estimated for row in shown) or (relation and not answer.exact):
        parts += [Text("  " + ESTIMATE_LEGEND, style=FAINT)]
    return page([*parts, *more(len(answer.functions), len(shown), "function"),
                 *notes_block(answer.notes)])  # fmt: skip


def _title(answer: FunctionsAnswer, relation: str | None) -> Text:
    words = {None: "Functions", "callers": "Callers", "callees": "Callees"}[relation]
    if not answer.exact:
        return heading(words)
    calls = sum(row.ncalls or 0 for row in answer.functions)
    primitive = sum(row.primitive_calls or 0 for row in answer.functions)
    own_ns = sum(row.tottime_ns or 0 for row in answer.functions)
    inner = f" ({count(primitive)} primitive)" if primitive != calls else ""
    return heading(words, f"{counted(calls, 'call')}{inner} in {duration(own_ns)}")


def _table(rows: Sequence[FunctionRow], files: Mapping[str, str], *, name_process: bool) -> Table:
    table = columns(
        ("ncalls", "right"),
        ("tottime", "right"),
        ("percall", "right"),
        ("cumtime", "right"),
        ("percall", "right"),
        ("filename:lineno(function)", "name"),
        *((("process", "left"),) if name_process else ()),
    )
    for row in rows:
        table.add_row(
            calls_cell(row.ncalls, row.primitive_calls, estimated=row.estimated),
            _time(row.tottime_ns, estimated=row.estimated or row.primitive_calls is None),
            duration(_each(row.tottime_ns, row.ncalls)),
            _time(row.cumtime_ns, estimated=row.estimated),
            duration(_each(row.cumtime_ns, row.primitive_calls or row.ncalls)),
            KeepsEnd(function_name(row, files)),
            *((_who(row.process),) if name_process else ()),
        )
    return table


def _who(process: Process) -> str:
    """Without the number: the main process is one, and workers are taken together."""
    return process.role if process.role == "main" else process_name(process)


def _relations(rows: Sequence[FunctionRow], files: Mapping[str, str], relation: str) -> Table:
    table = columns(
        ("function", "name"),
        ("ncalls", "right"),
        ("tottime", "right"),
        ("cumtime", "right"),
        (relation, "name"),
    )
    for row in rows:
        others = row.callers if relation == "callers" else row.callees
        if not others:
            table.add_row(name(function_name(row, files)), "", "", "", NOTHING)
        for index, other in enumerate(others):
            table.add_row(
                name(function_name(row, files)) if index == 0 else "",
                calls_cell(other.ncalls, other.primitive_calls),
                _time(other.tottime_ns, estimated=other.ncalls is None),
                _time(other.cumtime_ns, estimated=other.ncalls is None),
                name(function_name(other, files)),
            )
    return table


def calls_cell(ncalls: int | None, primitive: int | None, *, estimated: bool = False) -> str:
    """`12/3`: twelve calls, three of them not recursive."""
    if ncalls is None:
        return NOTHING
    mark = "~" if estimated else ""
    if primitive is None or primitive == ncalls:
        return mark + count(ncalls)
    return f"{mark}{count(ncalls)}/{count(primitive)}"


def function_name(row: FunctionRow | CallRow, files: Mapping[str, str]) -> str:
    """As pstats writes it: `train.py:31(step)`, `{built-in method time.sleep}`."""
    if row.file == NATIVE_FILE and row.line == 0:
        inside = row.function.removeprefix("<").removesuffix(">")
        return "{" + inside + "}" if row.function.startswith("<") else row.function
    return f"{files.get(row.file, row.file)}:{row.line}({row.function})"


def _time(ns: int | None, *, estimated: bool) -> str:
    return NOTHING if ns is None else ("~" if estimated else "") + duration(ns)


def _each(ns: int | None, number: int | None) -> float | None:
    return ns / number if ns is not None and number else None
