"""`show input`: whether the steps wait for their batches, and for what."""

from typing import TYPE_CHECKING

from stepscope.views.view import View

if TYPE_CHECKING:
    from stepscope.model import InputAnswer

INPUT: "View[InputAnswer]" = View(
    name="input",
    question="does the step wait for its batch, and what limits the loader?",
    computed="analyze.answers.input:input",
    drawn="show.terminal.input:input",
    page="input",
    takes_traces=True,
    sees_others=True,
)
