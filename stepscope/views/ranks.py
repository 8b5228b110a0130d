"""`show ranks`: the ranks side by side, and which one the others wait for."""

from typing import TYPE_CHECKING

from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model.ranks import RanksAnswer

RANKS: "View[RanksAnswer]" = View(
    name="ranks",
    question="which rank do the others wait for, and why?",
    computed="analyze.answers.ranks:ranks",
    drawn="show.terminal.ranks:ranks",
    page="ranks",
    rows=Rows(
        field="ranks",
        sorts={
            "rank": lambda row: row.rank,
            "step": lambda row: -(row.step_ms or 0.0),
            "own": lambda row: -(row.own_ms or 0.0),
            "waiting": lambda row: -(row.waiting_ms or 0.0),
        },
    ),
    sees_others=True,
    takes_traces=True,
)
