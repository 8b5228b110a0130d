"""`%stepscope`: a statement or a cell as a run, recorded in this process."""

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from IPython.display import display

from stepscope.cli.run import command as run_command
from stepscope.cli.run import record_options
from stepscope.ipython import options
from stepscope.ipython.cell import compile_text, run_codes
from stepscope.ipython.cell_names import Cells, name_cells
from stepscope.ipython.messages import errors_without_traceback, say, then
from stepscope.launch.about import describe_run
from stepscope.launch.command import Command
from stepscope.launch.run_folder import new_folder
from stepscope.launch.support import require_supported
from stepscope.record import recording
from stepscope.record.engines import lines
from stepscope.record.profiler import Profiler
from stepscope.record.steps.limits import EndOfSteps
from stepscope.store.format import RUN_FILE
from stepscope.store.writer import write_json

if TYPE_CHECKING:
    from stepscope.run_object import Run

NAME: Final = "stepscope"
show: Callable[[object], object] = display  # IPython has no types
_NO_SCRIPT: Final = Command(arguments=[], name="", script=None, packages=())
_READER: Final = options.command(
    NAME,
    click.Option(["-r", "wants_run"], is_flag=True),
    *(option for option in run_command.params if option.name not in ("module", "words")),
)


def record(shell: Any, line: str, cell: str | None) -> "Run | None":
    """Steps: read the options, compile, record while it runs, name the cells, show the summary."""
    __tracebackhide__ = True
    given, statement = options.split(_READER, line)
    text = options.text_to_run(NAME, statement, cell)
    codes = compile_text(shell, text, is_cell=cell is not None)
    if recording.current is not None:
        say(
            f"this process is being recorded already, into '{recording.current.run_folder}': what "
            "you record here becomes part of that run, and options do nothing."
        )
        run_codes(shell, codes)
        return None
    typed = ["%" + NAME, statement] if cell is None else ["%%" + NAME, *line.split()]
    with errors_without_traceback():
        profiler = _started(given, typed, _session_name(shell))
    cells = Cells(shell, codes[0].co_filename, is_cell=cell is not None)
    with then(lambda: _finish(profiler, cells, given)), contextlib.suppress(EndOfSteps):
        run_codes(shell, codes)
    return _opened(profiler) if given["wants_run"] else None


def _started(given: dict[str, Any], typed: Sequence[str], session: str) -> Profiler:
    require_supported()
    settings = record_options(given, _NO_SCRIPT).to_json()
    about = describe_run(typed, None, settings)
    folder = given["output"] or new_folder(session)
    _load_what_recording_needs()
    profiler = Profiler(folder, force=given["force"], **settings).start()
    with contextlib.suppress(OSError):  # never fail because of the run's name
        write_json(os.path.join(_folder_of(profiler), RUN_FILE), about)
    return profiler


def _load_what_recording_needs() -> None:
    """Before it starts: our own imports do not belong to the cell."""
    if not lines.HAS_MONITORING:
        with contextlib.suppress(ImportError):  # the recording will say so
            importlib.import_module("bytecode")


def _session_name(shell: Any) -> str:
    """The notebook's name, if its server or editor provides it."""
    known = (os.environ.get("JPY_SESSION_NAME"), shell.user_ns.get("__vsc_ipynb_file__"))
    for path in known:
        if isinstance(path, str) and path.endswith(".ipynb"):
            return os.path.splitext(os.path.basename(path))[0]
    return "ipython"


def _finish(profiler: Profiler, cells: Cells, given: dict[str, Any]) -> None:
    """Anything that goes wrong in our own part becomes a one-line message."""
    profiler.stop()
    failed = sys.exception() is not None
    try:
        name_cells(_folder_of(profiler), cells)
        if not given["quiet"] and (failed or not given["wants_run"]):
            show(_opened(profiler))
    except Exception as trouble:
        folder = _folder_of(profiler)
        say(
            f"no summary: {trouble or type(trouble).__name__}. The run is in '{folder}': "
            f"stepscope show {folder}"
        )


def _opened(profiler: Profiler) -> "Run":
    """Imported here: the analysis is not loaded before there is a run."""
    from stepscope.run_object import Run

    return Run(_folder_of(profiler))


def _folder_of(profiler: Profiler) -> str:
    assert profiler.folder is not None
    return profiler.folder
