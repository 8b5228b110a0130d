"""RUN/report.html, written when a run has ended. For runs without a supervisor (ranks under a
launcher, a `Profiler` in a notebook, a callback) the first `show` writes it."""

import contextlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.show.report.shapes import Content
    from stepscope.store.reader import Run


def write(run: "Run", folder: str, *, findings: Any = None) -> str | None:
    """Its path, as a user would type it; None if the page was not built."""
    from stepscope.launch.run_folder import shown
    from stepscope.show.report.bundle import is_built
    from stepscope.show.report.file import REPORT_FILE, write_report

    if not is_built():
        return None
    write_report(run, os.path.join(folder, REPORT_FILE), findings=findings)
    return os.path.join(shown(folder), REPORT_FILE)


def found_or_written(run: "Run", *, findings: Any) -> str | None:
    """Its path. None if the run is still running or the report cannot be written. We write nothing
    beside another tool's trace."""
    from stepscope.analyze.answers.parquet_tables import write_tables
    from stepscope.analyze.answers.processes import ending
    from stepscope.analyze.traces.foreign import is_trace
    from stepscope.errors import EnvironmentTrouble
    from stepscope.launch.run_folder import shown
    from stepscope.show.report.file import REPORT_FILE
    from stepscope.store.plain_files import is_file

    if is_trace(run.path):
        return None
    folder = str(run.path)
    if is_file(os.path.join(folder, REPORT_FILE)):
        return os.path.join(shown(folder), REPORT_FILE)
    if os.environ.get("STEPSCOPE_REPORT") == "off" or ending(run).how == "running":
        return None
    with contextlib.suppress(EnvironmentTrouble):
        write_tables(run)
    try:
        return write(run, folder, findings=findings)
    except OSError:
        return None


def write_page(path: str, content: "Content") -> None:
    """A report in a file of the user's choice."""
    from pathlib import Path

    from stepscope.analyze.derived import replace_file
    from stepscope.errors import InputError
    from stepscope.show.report.page import report

    page = report(content)
    try:
        replace_file(Path(path), lambda file: file.write(page))
    except OSError as cause:
        raise InputError(f"'{path}' cannot be written: {cause.strerror}.") from cause


def announce(path: str, *, stderr: bool) -> None:
    """The last line of the summary."""
    from rich.text import Text

    from stepscope.show.terminal.drawing.page import CODE, FAINT, print_view

    where = Text("  in browser   ", style=FAINT, no_wrap=True, overflow="ignore")
    print_view(where.append(path, style=CODE), stderr=stderr)
