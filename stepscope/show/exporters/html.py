"""The report as one HTML file, to keep, to send and to open without anything else."""

from typing import TYPE_CHECKING, Final

from stepscope.show.selection import only

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

OPEN_WITH: Final = "any browser"


def export(run: "Run", *, process: int | None = None, with_source: bool = True) -> bytes:
    """Of the whole run, or of one process as if it had run alone."""
    from stepscope.show.report.bundle import bundle
    from stepscope.show.report.content import content
    from stepscope.show.report.page import report

    bundle()  # raises now if the page was not built
    return report(content(only(run, process=process), with_source=with_source))
