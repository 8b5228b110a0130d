"""`stepscope.Run("folder")`: a run to ask from Python, and to look at in a notebook."""

import functools
import io
import os
import sys
from typing import Any, Final

import msgspec
from rich.console import Console

from stepscope.advise.findings import findings
from stepscope.analyze.answers.actions import actions
from stepscope.analyze.answers.files import files
from stepscope.analyze.answers.input import input as input_
from stepscope.analyze.answers.memory import memory
from stepscope.analyze.answers.processes import processes
from stepscope.analyze.answers.ranks import ranks
from stepscope.analyze.answers.regions import regions
from stepscope.analyze.answers.steps import steps
from stepscope.analyze.answers.summary import summary
from stepscope.analyze.code.functions import functions
from stepscope.analyze.code.lines import lines
from stepscope.analyze.operators.kernels import kernels
from stepscope.analyze.operators.operators import ops
from stepscope.analyze.run import load, newest_run
from stepscope.errors import InputError
from stepscope.model import (
    ActionsAnswer,
    FilesAnswer,
    FunctionsAnswer,
    InputAnswer,
    LinesAnswer,
    MemoryAnswer,
    ProcessesAnswer,
    RegionsAnswer,
    StepsAnswer,
    SummaryAnswer,
)
from stepscope.model.findings import FindingsAnswer
from stepscope.model.ops import KernelsAnswer, OpsAnswer
from stepscope.model.ranks import RanksAnswer
from stepscope.record import recording
from stepscope.show.report.bundle import is_built
from stepscope.show.report.content import content
from stepscope.show.report.page import frame
from stepscope.show.terminal.page import WIDEST
from stepscope.show.terminal.summary import summary as summary_page

_HTML: Final = (
    "<pre style=\"font-family:Menlo,'DejaVu Sans Mono',Consolas,'Courier New',monospace;"
    'line-height:1.25;white-space:pre;overflow-x:auto">{code}</pre>'
)


class Run:
    """A recorded run; without a folder, the newest in ./stepscope-runs.

    Each question gives the record that `stepscope show RUN <question> --json` prints. It reads
    the run as it is now: make a new one for a run that goes on.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = os.path.abspath(newest_run() if folder is None else folder)
        _require_finished_here(self.folder)
        self._run = load(self.folder)

    def summary(self) -> SummaryAnswer:
        """The whole run, its steps, its hottest lines."""
        return self._summary

    def findings(self) -> FindingsAnswer:
        """What is slow, why, what to change, and what that will gain."""
        return self._findings

    def steps(self) -> StepsAnswer:
        """How long a step takes, and what goes into it; `.each` has every single one."""
        return steps(self._run, each=True)

    def lines(self) -> LinesAnswer:
        """Hits and time of every line, by function."""
        return lines(self._run)

    def functions(self) -> FunctionsAnswer:
        """Calls and time of every function."""
        return functions(self._run)

    def regions(self) -> RegionsAnswer:
        """What was named with `stepscope.region`."""
        return regions(self._run)

    def actions(self) -> ActionsAnswer:
        """Hooks and callbacks of a framework's trainer."""
        return actions(self._run)

    def ops(self) -> OpsAnswer:
        """Operators in the recorded windows, and the lines that called them."""
        return ops(self._run)

    def kernels(self) -> KernelsAnswer:
        """What ran on a device in the recorded windows."""
        return kernels(self._run)

    def input(self) -> InputAnswer:
        """Whether the steps wait for their batches, and for what."""
        return input_(self._run)

    def ranks(self) -> RanksAnswer:
        """The ranks side by side, and which one the others wait for."""
        return ranks(self._run)

    def files(self) -> FilesAnswer:
        """Which files were opened, by which line, at what cost."""
        return files(self._run)

    def memory(self) -> MemoryAnswer:
        """Resident memory of each process over time."""
        return memory(self._run)

    def processes(self) -> ProcessesAnswer:
        """Who took part."""
        return processes(self._run)

    @functools.cached_property
    def _findings(self) -> FindingsAnswer:
        return findings(self._run)

    @functools.cached_property
    def _summary(self) -> SummaryAnswer:
        return msgspec.structs.replace(summary(self._run), run=_as_typed(self.folder))

    def __repr__(self) -> str:
        return self._text(colours=False)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython's plain text: with colours on its terminal, none in what a notebook keeps."""
        is_terminal = sys.stdout.isatty() and sys.stdout is sys.__stdout__
        printer.text(self._text(colours=is_terminal))

    def _repr_html_(self) -> str:
        """The notebook's look at it: the report; where that was not built, the terminal's page."""
        if is_built():
            return frame(content(self._run, findings=self._findings))
        console = _console(width=WIDEST, colours=True, record=True)
        console.print(summary_page(self._summary, advice=self._findings))
        return console.export_html(inline_styles=True, code_format=_HTML)

    def _text(self, *, colours: bool) -> str:
        console = _console(colours=colours)
        console.print(summary_page(self._summary, advice=self._findings), crop=colours)
        text = console.file.getvalue()  # type: ignore[attr-defined]  # it is a StringIO
        return str(text).rstrip("\n")


def _console(*, colours: bool, width: int | None = None, record: bool = False) -> Console:
    """Writes into memory: in a notebook rich would display by itself."""
    return Console(
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
    """As short as it can be typed from here."""
    relative = os.path.relpath(folder)
    return folder if relative.startswith(os.pardir) else relative


def _require_finished_here(folder: str) -> None:
    """What analyses a run must not become part of it."""
    current = recording.current
    if current is not None and os.path.realpath(current.run_folder) == os.path.realpath(folder):
        raise InputError(
            f"'{folder}' is being recorded by this very process: ask when that has ended, or in "
            f"another process with 'stepscope show {folder}'."
        )
