"""Writes the report into its run, whole or not at all, and keeps what the viewer will ask for."""

import functools
import os
from typing import TYPE_CHECKING, Any, Final

from stepscope.analyze.timeline.run_timeline import run_timeline
from stepscope.show.report.content import content
from stepscope.show.report.kept import keep, run_version
from stepscope.show.report.page import report

if TYPE_CHECKING:
    from stepscope.store.reader import Run

REPORT_FILE: Final = "report.html"


def write_report(run: "Run", path: str, *, findings: Any = None) -> None:
    """`findings`: where the caller has them already."""
    timeline = functools.cache(lambda: run_timeline(run))
    told = content(run, timeline=timeline, findings=findings)
    page = report(told)
    half = f"{path}.{os.getpid()}"
    try:
        with open(half, "wb") as file:
            file.write(page)
        os.replace(half, path)
    finally:
        if os.path.exists(half):
            os.unlink(half)
    if told.timeline is not None:
        keep(run.path, run_version(run.path), told, timeline())
