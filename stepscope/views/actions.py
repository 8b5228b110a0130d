"""`show actions`: hooks and callbacks of a framework's trainer."""

from typing import TYPE_CHECKING

from stepscope.views.nested_sorts import NESTED_SORTS
from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model import ActionsAnswer

ACTIONS: "View[ActionsAnswer]" = View(
    name="actions",
    question="what do the actions of Lightning cost, each with those inside it?",
    computed="analyze.answers.actions:actions",
    drawn="show.terminal.actions:actions",
    page="files",
    rows=Rows(field="actions", sorts=NESTED_SORTS),
)
