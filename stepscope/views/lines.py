"""`show lines`: hits and time of every line, by function."""

from typing import TYPE_CHECKING, Final

from stepscope.views.chosen_functions import FILE, FUNCTION, chosen_functions
from stepscope.views.view import Option, Rows, View

if TYPE_CHECKING:
    from stepscope.model import LinesAnswer

_UNITS_S: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def _unit_s(word: str) -> float:
    try:
        unit_s = _UNITS_S[word] if word in _UNITS_S else float(word)
    except ValueError:
        unit_s = 0.0
    if unit_s <= 0:
        raise ValueError(f"'{word}' is not s, ms, us, ns or a number of seconds.")
    return unit_s


_UNIT: Final = Option(
    flag="--unit",
    help="s, ms, us, ns, or a number of seconds such as 1e-6.",
    metavar="UNIT",
    parse=_unit_s,
)

LINES: "View[LinesAnswer]" = View(
    name="lines",
    question="which line, how often, how long?",
    computed="analyze.code.lines:lines",
    drawn="show.terminal.lines:lines",
    page="source",
    rows=Rows(
        field="functions",
        sorts={
            "time": lambda row: -row.total_ns,
            "hits": lambda row: -sum(line.hits for line in row.lines),
            "name": lambda row: (row.file, row.first_line),
        },
        choose=chosen_functions,
    ),
    top=10,
    options=(FUNCTION, FILE, _UNIT),
    drawn_with=lambda given: {
        "unit_s": given.get("unit"),
        "hottest": not given.keys() & {"function", "file"},
    },
    tables=("lines",),
    takes_traces=True,
)
