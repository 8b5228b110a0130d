"""`%stepline`: exact lines of functions, modules or a whole cell, in line_profiler's tables."""

import builtins
import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, Final

import click
from IPython.core.error import UsageError

from stepscope.ipython import options, targets
from stepscope.ipython.cell import compile_text, run_codes
from stepscope.ipython.messages import errors_without_traceback, then
from stepscope.ipython.tables import tables
from stepscope.line_profiler import LineProfiler

NAME: Final = "stepline"
_READER: Final = options.command(
    NAME,
    click.Option(["-f", "functions"], multiple=True),
    click.Option(["-m", "modules"], multiple=True),
    click.Option(["-D", "lprof_file"]),
    click.Option(["-T", "text_file"]),
    click.Option(["-r", "wants_profiler"], is_flag=True),
    click.Option(["-s", "-z", "stripzeros"], is_flag=True),
    click.Option(["-u", "unit_s"], type=click.FloatRange(min=0, min_open=True)),
    click.Option(["-p", "only_top_level"], is_flag=True),
    click.Option(["-t", "keeps_time"], is_flag=True),
)
_NOTHING: Final = object()
_TOTAL_TIME: Final = "_total_time_taken"  # the variable, as line_profiler names it


def count_lines(shell: Any, line: str, cell: str | None) -> LineProfiler | None:
    """Steps: read the options, compile, register what is to be counted, run, print."""
    __tracebackhide__ = True
    given, statement = options.split(_READER, line)
    text = options.text_to_run(NAME, statement, cell)
    _require_fitting(given, is_cell=cell is not None)
    for file in (given["lprof_file"], given["text_file"]):
        _require_writable(file)
    codes = targets.registered(compile_text(shell, text, is_cell=cell is not None))
    profiler = _profiler_for(shell, given, codes)
    with errors_without_traceback():
        profiler.enable_by_count()
    with _ends_caught(), then(lambda: _report(profiler, given)), _counting(profiler, shell, given):
        run_codes(shell, codes)
    return profiler if given["wants_profiler"] else None


def _require_fitting(given: dict[str, Any], *, is_cell: bool) -> None:
    is_named = bool(given["functions"] or given["modules"])
    if not is_cell and not is_named:
        raise UsageError(
            "Name what to count: -f FUNCTION or -m MODULE, or put %%stepline above a cell. See "
            "%stepline?"
        )
    if given["only_top_level"] and (is_named or not is_cell):
        raise UsageError(
            "-p is for %%stepline without -f and -m: only the lines of the cell itself."
        )


def _profiler_for(shell: Any, given: dict[str, Any], codes: Sequence[CodeType]) -> LineProfiler:
    profiler = LineProfiler()
    targets.add_modules(profiler, given["modules"])
    targets.add_functions(profiler, given["functions"], codes, shell)
    if not given["functions"] and not given["modules"]:
        targets.add_cell(profiler, codes, with_functions=not given["only_top_level"])
    return profiler


@contextlib.contextmanager
def _ends_caught() -> Iterator[None]:
    """As line_profiler has it: what was counted up to a stop or an exit is the result."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        print(f"*** {type(error).__name__} exception caught in code being profiled.")


@contextlib.contextmanager
def _counting(profiler: LineProfiler, shell: Any, given: dict[str, Any]) -> Iterator[None]:
    began = time.perf_counter()
    try:
        with _as_builtin(profiler):
            yield
    finally:
        profiler.disable_by_count()
        if given["keeps_time"]:
            shell.user_ns[_TOTAL_TIME] = time.perf_counter() - began


@contextlib.contextmanager
def _as_builtin(profiler: LineProfiler) -> Iterator[None]:
    """`@profile` without an import, as with kernprof; what had the name gets it back."""
    before = vars(builtins).get("profile", _NOTHING)
    vars(builtins)["profile"] = profiler
    try:
        yield
    finally:
        vars(builtins).pop("profile", None)
        if before is not _NOTHING:
            vars(builtins)["profile"] = before


def _report(profiler: LineProfiler, given: dict[str, Any]) -> None:
    text = tables(profiler.get_stats(), unit_s=given["unit_s"], stripzeros=given["stripzeros"])
    print(text, end="")
    if given["text_file"]:
        with open(given["text_file"], "w", encoding="utf-8") as file:
            file.write(text)
        print(f"The tables are in '{given['text_file']}'.")
    if given["lprof_file"]:
        profiler.dump_stats(given["lprof_file"])
        print(f"The numbers are in '{given['lprof_file']}'.")


def _require_writable(path: str | None) -> None:
    """Before anything runs: a typo must not cost an hour of training."""
    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.path.isdir(folder):
        raise UsageError(f"'{path}' cannot be written: it is a folder, or its folder is missing.")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageError(f"'{path}' cannot be written: permission denied.")
