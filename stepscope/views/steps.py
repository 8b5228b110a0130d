"""`show steps`: how long a step takes and what it consists of; `.each` has every single step."""

from typing import TYPE_CHECKING, Any, Final

from stepscope.views.view import Given, Option, Rows, View

if TYPE_CHECKING:
    from stepscope.model import StepsAnswer

_DRAWN: Final = 2000  # more than a terminal has columns
_EACH: Final = Option(flag="--each", help="every single step.", is_flag=True)
_SCHEME: Final = Option(
    flag="--scheme",
    help="the categories of the breakdown.",
    choices=("stepscope", "xprof", "tensorboard"),
)


def _asked_with(given: Given) -> dict[str, Any]:
    """The terminal view always needs single steps: it draws them as one line."""
    each = "each" in given or "json" not in given
    asked = {"scheme": given.get("scheme", "stepscope"), "each": each}
    return asked if "each" in given else asked | {"most_each": _DRAWN}


STEPS: "View[StepsAnswer]" = View(
    name="steps",
    question="how many steps, how long, how regular, what is in them?",
    computed="analyze.answers.steps:steps",
    drawn="show.terminal.steps:steps",
    page="steps",
    rows=Rows(
        field="each",
        sorts={"start": lambda step: step.start_ns, "time": lambda step: -step.duration_ns},
        shown_with="each",
    ),
    top=50,
    options=(_EACH, _SCHEME),
    asked_with=_asked_with,
    drawn_with=lambda given: {"table": "each" in given},
    takes_traces=True,
    tables=("steps",),
)
