"""`show regions`: what was named with `stepscope.region`."""

from typing import TYPE_CHECKING

from stepscope.views.nested_sorts import NESTED_SORTS
from stepscope.views.view import Rows, View

if TYPE_CHECKING:
    from stepscope.model import RegionsAnswer

REGIONS: "View[RegionsAnswer]" = View(
    name="regions",
    question="what did the pieces I named cost?",
    computed="analyze.answers.regions:regions",
    drawn="show.terminal.regions:regions",
    page="files",
    rows=Rows(field="regions", sorts=NESTED_SORTS),
    tables=("regions",),
)
