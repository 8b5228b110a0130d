"""A run as flat tables: the rows of the `--json` answers, with their names as columns."""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars

from stepscope.model import (
    CallRow,
    FunctionLines,
    FunctionRow,
    LineRow,
    MemoryPoint,
    Process,
    ProcessMemory,
    Record,
)
from stepscope.show.exporters.folder import MANIFEST
from stepscope.show.exporters.trace_events import text
from stepscope.show.selection import only
from stepscope.views import VIEWS
from stepscope.views.view import View

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

Columns = list[polars.Series]
Encode = Callable[[polars.DataFrame], bytes]
Files = Iterator[tuple[str, bytes]]

_DTYPES: Final[dict[Any, Any]] = {
    bool: polars.Boolean,
    float: polars.Float64,
    int: polars.Int64,
    str: polars.String,
    list[str]: polars.List(polars.String),
}
_NO_STEPS: Final = {
    "role": polars.String,
    "rank": polars.Int64,
    "pid": polars.Int64,
    "step": polars.Int64,
    "start_ns": polars.Int64,
    "duration_ns": polars.Int64,
    "measured": polars.Boolean,
    "samples": polars.Int64,
}


class Asked:
    """The answers about one run; each question is asked once."""

    def __init__(self, run: "Run") -> None:
        self.run = run
        self._answers: dict[str, Any] = {}

    def __getitem__(self, question: str) -> Any:
        if question not in self._answers:
            self._answers[question] = VIEWS[question].ask(self.run)
        return self._answers[question]

    def rows(self, question: str) -> list[Any]:
        return VIEWS[question].rows_of(self[question]) or []

    @property
    def notes(self) -> list[str]:
        """The answers' notes, each once."""
        return list(
            dict.fromkeys(note for answer in self._answers.values() for note in answer.notes)
        )


# --- the tables ----------------------------------------------------------------------------------


def _rows_of(view: View[Any]) -> Callable[[Asked], Columns]:
    """A table with one row for each row of the answer."""
    return lambda asked: columns(view.row_type, asked.rows(view.name))


def _steps(asked: Asked) -> Columns:
    """One row per step, counted from 1 as in `show steps --each`; one column per phase."""
    from stepscope.analyze.answers.parquet_tables import steps_table

    found = steps_table(asked.run).rename({"is_measured": "measured"}, strict=False)
    whole = polars.concat([polars.DataFrame(schema=_NO_STEPS), found], how="diagonal_relaxed")
    phases = [name for name in whole.columns if name not in _NO_STEPS]
    samples = polars.col("samples")
    table = whole.with_columns(
        polars.col("step").cast(polars.Int64),
        polars.when(samples > 0).then(samples),  # 0: unknown
        # A phase that a process does not have took no time there.
        *(polars.col(name).fill_null(0) for name in phases),
    )
    return table.select(*_NO_STEPS, *phases).get_columns()


def _lines(asked: Asked) -> Columns:
    pairs = [(function, line) for function in asked.rows("lines") for line in function.lines]
    owner = ("file", "function", "first_line", "process")
    return [
        *columns(FunctionLines, [function for function, _ in pairs], owner),
        *columns(LineRow, [line for _, line in pairs]),
    ]


def _callers(asked: Asked) -> Columns:
    """One row per function and caller: the figures are the function's calls by that caller."""
    pairs = [(row, caller) for row in asked.rows("functions") for caller in row.callers]
    callers = [caller for _, caller in pairs]
    place = ("file", "line", "function")
    figures = ("ncalls", "primitive_calls", "tottime_ns", "cumtime_ns")
    return [
        *columns(FunctionRow, [row for row, _ in pairs], (*place, "process")),
        *columns(CallRow, callers, place, prefix="caller_"),
        *columns(CallRow, callers, figures),
    ]


def _memory(asked: Asked) -> Columns:
    return columns(ProcessMemory, list(_memory_by_process(asked.run)))


def _memory_points(asked: Asked) -> Columns:
    pairs = [(row, point) for row in _memory_by_process(asked.run) for point in row.points]
    return [
        *columns(ProcessMemory, [row for row, _ in pairs], ("process",)),
        *columns(MemoryPoint, [point for _, point in pairs]),
    ]


def _memory_by_process(run: "Run") -> Iterator[ProcessMemory]:
    """Includes the pid of each worker, which the answer for all workers together leaves out."""
    from stepscope.analyze.answers.memory import memory

    for process in run.processes:
        info = process.info
        who = Process(role=info.role, rank=info.rank, pid=info.pid)
        for row in memory(dataclasses.replace(run, processes=[process])).processes:
            yield msgspec.structs.replace(row, process=who)


# Tables with more than the rows of their view's answer.
_MADE: Final[dict[str, Callable[[Asked], Columns]]] = {
    "steps": _steps,
    "lines": _lines,
    "callers": _callers,
    "memory": _memory,
    "memory_points": _memory_points,
}
# By the name of the file.
TABLES: Final[dict[str, Callable[[Asked], Columns]]] = {
    table: _MADE.get(table) or _rows_of(view) for view in VIEWS.values() for table in view.tables
}


def export_tables(run: "Run", process: int | None, ending: str, encode: Encode) -> Files:
    """Each table's file, then the manifest; for all processes, or only the given one."""
    asked = Asked(only(run, process=process))
    rows: dict[str, int] = {}
    for name, make in TABLES.items():
        table = polars.DataFrame(make(asked))
        rows[f"{name}.{ending}"] = len(table)
        yield f"{name}.{ending}", encode(table)
    about = {"exported_by": "stepscope", "run": text(run.path.resolve().name), "rows": rows}
    manifest = msgspec.json.encode(about | {"notes": [text(note) for note in asked.notes]})
    yield MANIFEST, msgspec.json.format(manifest) + b"\n"


# --- records to columns --------------------------------------------------------------------------


def columns(
    record: type[Record], rows: Sequence[Any], names: Sequence[str] = (), *, prefix: str = ""
) -> Columns:
    """The fields of the rows (or those named) as columns of the types that the record declares.

    A field that is a record becomes one column per field of that record: `process` becomes role,
    rank and pid. Lists of records are left out: they have tables of their own.
    """
    found: Columns = []
    for name, hint in typing.get_type_hints(record).items():
        if names and name not in names:
            continue
        kind = _kind(hint)
        values = [None if row is None else getattr(row, name) for row in rows]
        if isinstance(kind, type) and issubclass(kind, Record):
            found += columns(kind, values, prefix=prefix)
        elif kind in _DTYPES:
            found.append(_column(prefix + name, values, _DTYPES[kind]))
    return found


def _kind(hint: Any) -> Any:
    """A field's type without None; a Literal of strings is text."""
    if isinstance(hint, types.UnionType):
        (hint,) = [each for each in typing.get_args(hint) if each is not types.NoneType]
    return str if typing.get_origin(hint) is typing.Literal else hint


def _column(name: str, values: list[Any], dtype: Any) -> polars.Series:
    if dtype == polars.String:
        values = [value if value is None else text(value) for value in values]
    elif dtype == polars.List(polars.String):
        values = [value if value is None else list(map(text, value)) for value in values]
    return polars.Series(name, values, dtype=dtype)
