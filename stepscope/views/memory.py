"""`show memory`: resident memory of each process over time."""

from typing import TYPE_CHECKING

from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model import MemoryAnswer

MEMORY: "View[MemoryAnswer]" = View(
    name="memory",
    question="how much memory, and does it grow step by step?",
    computed="analyze.answers.memory:memory",
    drawn="show.terminal.memory:memory",
    page="memory",
    rows=Rows(
        field="processes",
        sorts={
            "start": lambda row: 0,
            "peak": lambda row: -row.peak_bytes,
            "growth": lambda row: -(row.growth_bytes_per_step or 0.0),
        },
    ),
    tables=("memory", "memory_points"),
    takes_traces=True,
)
