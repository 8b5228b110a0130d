"""Writes the report into its run, atomically, and keeps what the viewer will ask for."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stepscope.analyze.answers.run_list import keep_figures
from stepscope.analyze.answers.run_version import run_version
from stepscope.analyze.derived import replace_file
from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.show.report.content import content
from stepscope.show.report.kept import keep
from stepscope.show.report.page import report

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

REPORT_FILE: Final = "report.html"


def list_figures(path: Path, shown: Any) -> None:
    """Keeps what the list of runs says about a run, as its report has it. `shown`: the content."""
    whole_ns = shown.timeline.whole_ns if shown.timeline is not None else None
    keep_figures(path, shown.summary, shown.verdict, whole_ns=whole_ns)


def write_report(run: "Run", path: str, *, findings: Any = None) -> None:
    """`findings`: given if the caller has them already."""
    timeline = functools.cache(lambda: run_timeline(run))
    shown = content(run, timeline=timeline, findings=findings)
    page = report(shown)
    replace_file(Path(path), lambda file: file.write(page))
    list_figures(run.path, shown)
    if shown.timeline is not None:
        keep(run.path, run_version(run.path), shown, timeline())
