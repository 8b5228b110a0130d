"""cProfile's file of statistics: the calls of one process, for pstats and snakeviz."""

import marshal
import os
from typing import TYPE_CHECKING, Final

from stepscope.errors import InputError
from stepscope.model import CallRow, FunctionRow
from stepscope.show.selection import only

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

OPEN_WITH: Final = "python -m pstats {path}"
MARSHAL_VERSION: Final = 4  # every Python since 3.4 reads it

Key = tuple[str, int, str]  # file, first line, plain name
Figures = tuple[int, int, float, float]
Stats = dict[Key, tuple[int, int, float, float, dict[Key, Figures]]]


def export(run: "Run", *, process: int | None = None) -> bytes:
    """The calls of the process with this pid; by default the main process (or rank 0)."""
    from stepscope.analyze.code.functions import functions

    if process is None and run.main is not None:
        process = run.main.info.pid
    answer = functions(only(run, process=process))
    if not any(row.primitive_calls is not None for row in answer.functions):
        raise InputError(
            f"'{run.path}' has no calls to export. Record them with 'stepscope run --calls'."
        )
    return marshal.dumps(stats_of(answer.functions, cwd=run.cwd), MARSHAL_VERSION)


def stats_of(rows: list[FunctionRow], *, cwd: str) -> Stats:
    """Qualified names become plain ones, as in cProfile; what has the same name then is summed."""
    stats: Stats = {}
    for row in rows:
        callers: dict[Key, Figures] = {}
        for caller in row.callers:
            key = _key(caller, cwd)
            callers[key] = _plus(callers.get(key), _figures(caller.ncalls or 0, caller))
        own = _figures(row.primitive_calls or 0, row)
        key = _key(row, cwd)
        before = stats.get(key)
        if before is not None:
            own = _plus(before[:4], own)
            for name, figures in before[4].items():
                callers[name] = _plus(callers.get(name), figures)
        stats[key] = (*own, callers)
    return stats


def _key(row: FunctionRow | CallRow, cwd: str) -> Key:
    """Absolute: a viewer in any folder looks the source up by this path."""
    is_file = row.file != "~" and not row.file.startswith("<")
    name = row.function if row.file == "~" else row.function.rpartition(".")[2]
    return os.path.join(cwd, row.file) if is_file else row.file, row.line, name


def _figures(first: int, row: FunctionRow | CallRow) -> Figures:
    """cProfile puts a function's primitive calls first, but a caller's primitive calls second."""
    second = row.primitive_calls if isinstance(row, CallRow) else row.ncalls
    return first, second or 0, (row.tottime_ns or 0) * 1e-9, (row.cumtime_ns or 0) * 1e-9


def _plus(one: Figures | None, other: Figures) -> Figures:
    if one is None:
        return other
    return one[0] + other[0], one[1] + other[1], one[2] + other[2], one[3] + other[3]
