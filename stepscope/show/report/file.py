"""Writes the report into its run, whole or not at all."""

import os
from typing import TYPE_CHECKING, Any, Final

from stepscope.show.report.content import content
from stepscope.show.report.page import report

if TYPE_CHECKING:
    from stepscope.store.reader import Run

REPORT_FILE: Final = "report.html"


def write_report(run: "Run", path: str, *, findings: Any = None) -> None:
    """`findings`: where the caller has them already."""
    page = report(content(run, findings=findings))
    half = f"{path}.{os.getpid()}"
    try:
        with open(half, "wb") as file:
            file.write(page)
        os.replace(half, path)
    finally:
        if os.path.exists(half):
            os.unlink(half)
