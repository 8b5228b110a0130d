"""`show functions`: calls and time of every function."""

from typing import TYPE_CHECKING, Final

from stepscope.views.chosen_functions import FILE, FUNCTION, chosen_functions
from stepscope.views.stacks import STACKS
from stepscope.views.view import Key, Option, Rows, View

if TYPE_CHECKING:
    from stepscope.model import FunctionsAnswer

# By pstats' names; unknown values come last.
_SORTS: Final[dict[str, Key]] = {
    "tottime": lambda row: -(row.tottime_ns or 0),
    "cumtime": lambda row: -(row.cumtime_ns or 0),
    "ncalls": lambda row: -(row.ncalls or 0),
    "pcalls": lambda row: -(row.primitive_calls or 0),
    "name": lambda row: row.function,
    "nfl": lambda row: (row.function, row.file, row.line),
    "stdname": lambda row: (row.file, row.line, row.function),
    "filename": lambda row: row.file,
    "line": lambda row: row.line,
}
_ALIASES: Final = {
    "time": "tottime",
    "cumulative": "cumtime",
    "calls": "ncalls",
    "file": "filename",
    "module": "filename",
}

_CALLERS: Final = Option(flag="--callers", help="who called it.", metavar="NAME", repeated=True)
_CALLEES: Final = Option(flag="--callees", help="what it called.", metavar="NAME", repeated=True)
_TREE: Final = Option(flag="--tree", help="sampled stacks, as a call tree.", is_flag=True)

FUNCTIONS: "View[FunctionsAnswer]" = View(
    name="functions",
    question="which function, how often, how long, who called it?",
    computed="analyze.code.functions:functions",
    drawn="show.terminal.functions:functions",
    page="functions",
    rows=Rows(
        field="functions",
        sorts=_SORTS | {alias: _SORTS[name] for alias, name in _ALIASES.items()},
        choose=chosen_functions,
    ),
    top=40,
    options=(FUNCTION, FILE, _CALLERS, _CALLEES, _TREE),
    drawn_with=lambda given: {
        "relation": next((name for name in ("callers", "callees") if name in given), None)
    },
    instead={_TREE.name: STACKS},
    tables=("functions", "callers"),
    takes_traces=True,
)
