"""`show findings`: what is slow, why, what to change, and what that will gain."""

from typing import TYPE_CHECKING, Final

from stepscope.views.view import Option, View

if TYPE_CHECKING:
    from stepscope.model.findings import FindingsAnswer

_ALL: Final = Option(flag="--all", help="those that gain little, too.", is_flag=True)

FINDINGS: "View[FindingsAnswer]" = View(
    name="findings",
    question="what is slow, why, what to change, and what will that gain?",
    computed="advise.findings:findings",
    drawn="show.terminal.findings:findings",
    page="overview",
    options=(_ALL,),
    asked_with=lambda given: {"every": "all" in given},
    takes_traces=True,
)
