"""`show kernels`: what ran on a device in the recorded windows."""

from typing import TYPE_CHECKING

from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model.ops import KernelsAnswer

KERNELS: "View[KernelsAnswer]" = View(
    name="kernels",
    question="which kernels ran on the device?",
    computed="analyze.operators.kernels:kernels",
    drawn="show.terminal.kernels:kernels",
    page="operators",
    rows=Rows(
        field="kernels",
        sorts={
            "time": lambda row: -row.total_ns,
            "calls": lambda row: -row.calls,
            "mean": lambda row: -row.mean_ns,
            "name": lambda row: row.name,
        },
    ),
    top=40,
    takes_traces=True,
)
