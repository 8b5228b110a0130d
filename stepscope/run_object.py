"""`stepscope.Run("folder")`: a run to ask from Python, and to look at in a notebook."""

import functools
import io
import os
import sys
from typing import Any, Final

import msgspec
from rich.console import Console

from stepscope.analyze.run import newest_run
from stepscope.analyze.traces.foreign import load_any
from stepscope.errors import InputError
from stepscope.model import SummaryAnswer
from stepscope.model.findings import FindingsAnswer
from stepscope.record import recording
from stepscope.run_questions import RunQuestions
from stepscope.show.report.bundle import is_built
from stepscope.show.report.content import content
from stepscope.show.report.page import frame
from stepscope.show.terminal.drawing.page import WIDEST, Terminal
from stepscope.show.terminal.summary import summary as summary_page

_HTML: Final = (
    "<pre style=\"font-family:Menlo,'DejaVu Sans Mono',Consolas,'Courier New',monospace;"
    'line-height:1.25;white-space:pre;overflow-x:auto">{code}</pre>'
)


class Run(RunQuestions):
    """A recorded run, or what another profiler wrote; without a folder, the newest in
    ./stepscope-runs.

    Each question gives the record that `stepscope show RUN <question> --json` prints. It reads
    the run as it is now: make a new one while the run is still being recorded.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = os.path.abspath(newest_run() if folder is None else folder)
        _require_finished_here(self.folder)
        super().__init__(load_any(self.folder))

    def summary(self) -> SummaryAnswer:
        """The whole run, its steps, its hottest lines."""
        return self._summary

    def findings(self) -> FindingsAnswer:
        """What is slow, why, what to change, and what that will gain."""
        return self._findings

    # These two are also shown in notebooks, so they are computed once.

    @functools.cached_property
    def _findings(self) -> FindingsAnswer:
        return super().findings()

    @functools.cached_property
    def _summary(self) -> SummaryAnswer:
        return msgspec.structs.replace(super().summary(), run=_as_typed(self.folder))

    def __repr__(self) -> str:
        return self._text(colours=False)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython's plain text: with colours on a terminal, without in a saved notebook."""
        is_terminal = sys.stdout.isatty() and sys.stdout is sys.__stdout__
        printer.text(self._text(colours=is_terminal))

    def _repr_html_(self) -> str:
        """In a notebook: the report; if that was not built, the terminal's page."""
        if is_built():
            return frame(content(self._run, findings=self._findings))
        console = _console(width=WIDEST, colours=True, record=True)
        console.print(summary_page(self._summary, findings=self._findings))
        return console.export_html(inline_styles=True, code_format=_HTML)

    def _text(self, *, colours: bool) -> str:
        console = _console(colours=colours)
        console.print(summary_page(self._summary, findings=self._findings), crop=colours)
        text = console.file.getvalue()  # type: ignore[attr-defined]  # it is a StringIO
        return str(text).rstrip("\n")


def _console(*, colours: bool, width: int | None = None, record: bool = False) -> Console:
    """Writes into memory: in a notebook rich would display on its own."""
    return Terminal(
        file=io.StringIO(),
        width=width,
        record=record,
        color_system="standard" if colours else None,
        force_terminal=colours,
        force_jupyter=False,
        highlight=False,
        emoji=False,
        markup=False,
    )


def _as_typed(folder: str) -> str:
    """The shortest path from the current folder."""
    relative = os.path.relpath(folder)
    return folder if relative.startswith(os.pardir) else relative


def _require_finished_here(folder: str) -> None:
    """The analysis must not become part of the run it analyses."""
    current = recording.current
    if current is not None and os.path.realpath(current.run_folder) == os.path.realpath(folder):
        raise InputError(
            f"'{folder}' is being recorded by this process: ask when that has ended, or in "
            f"another process with 'stepscope show {folder}'."
        )
