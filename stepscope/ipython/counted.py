"""`%stepline`: exact lines of functions, modules or a whole cell, in line_profiler's tables."""

import builtins
import contextlib
import os
from collections.abc import Iterator
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
)


def count_lines(shell: Any, line: str, cell: str | None) -> LineProfiler | None:
    """Steps: read the options, compile, register what is to be counted, run, print."""
    __tracebackhide__ = True
    given, statement = options.split(_READER, line)
    text = options.text_to_run(NAME, statement, cell)
    is_named = bool(given["functions"] or given["modules"])
    if cell is None and not is_named:
        raise UsageError("Name what to count: -f FUNCTION or -m MODULE. See %stepline?")
    for file in (given["lprof_file"], given["text_file"]):
        _require_writable(file)
    codes = targets.registered(compile_text(shell, text, is_cell=cell is not None))
    profiler = LineProfiler()
    targets.add_modules(profiler, given["modules"])
    targets.add_functions(profiler, given["functions"], codes, shell)
    if not is_named:
        targets.add_cell(profiler, codes)
    with errors_without_traceback():
        profiler.enable_by_count()
    with then(lambda: _report(profiler, given)), _disabled_after(profiler), _as_builtin(profiler):
        run_codes(shell, codes)
    return profiler if given["wants_profiler"] else None


@contextlib.contextmanager
def _disabled_after(profiler: LineProfiler) -> Iterator[None]:
    try:
        yield
    finally:
        profiler.disable_by_count()


@contextlib.contextmanager
def _as_builtin(profiler: LineProfiler) -> Iterator[None]:
    """`@profile` without an import, as with kernprof; an existing name wins."""
    if hasattr(builtins, "profile"):
        yield
        return
    builtins.profile = profiler  # type: ignore[attr-defined]  # the point is to add it
    try:
        yield
    finally:
        if hasattr(builtins, "profile") and builtins.profile is profiler:
            del builtins.profile


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
