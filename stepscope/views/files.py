"""`show files`: which files were opened, by which line, at what cost."""

from typing import TYPE_CHECKING

from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model import FilesAnswer

FILES: "View[FilesAnswer]" = View(
    name="files",
    question="which files were opened, by which line, how often, at what cost?",
    computed="analyze.answers.files:files",
    drawn="show.terminal.files:files",
    page="files",
    rows=Rows(
        field="files",
        sorts={
            "time": lambda row: -row.total_ns,
            "opens": lambda row: -row.opens,
            "name": lambda row: row.path,
        },
    ),
    tables=("files",),
)
