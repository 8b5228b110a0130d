"""`show summary`: the whole run, its steps, its hottest lines."""

from typing import TYPE_CHECKING

from stepscope.views.view import View

if TYPE_CHECKING:
    from stepscope.model import SummaryAnswer

SUMMARY: "View[SummaryAnswer]" = View(
    name="summary",
    question="where did the whole run go, what is a step made of, which lines are hot?",
    computed="analyze.answers.summary:summary",
    drawn="show.terminal.summary:summary",
    page="overview",
    drawn_beside=("findings",),
    names_report=True,
    takes_traces=True,
)
