"""`show processes`: which processes ran, and what each used."""

from typing import TYPE_CHECKING

from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model.processes import ProcessesAnswer

PROCESSES: "View[ProcessesAnswer]" = View(
    name="processes",
    question="which processes ran, what did each use?",
    computed="analyze.answers.processes:processes",
    drawn="show.terminal.processes:processes",
    page="ranks",
    rows=Rows(
        field="processes",
        sorts={
            "start": lambda row: 0,
            "time": lambda row: -row.wall_ns,
            "cpu": lambda row: -(row.cpu_ns or 0),
            "peak": lambda row: -(row.peak_bytes or 0),
        },
    ),
    tables=("processes",),
    takes_traces=True,
)
