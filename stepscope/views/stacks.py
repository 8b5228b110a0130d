"""`show functions --tree`: the sampled stacks, another form of the functions view."""

import fnmatch
from typing import TYPE_CHECKING, Final

from stepscope.errors import InputError
from stepscope.views.view import Given, Option, Rows, View

if TYPE_CHECKING:
    from stepscope.model import StacksAnswer, ThreadStacks

_THREAD: Final = Option(
    flag="--thread", help="only threads of this name or pattern.", metavar="NAME"
)
_ALL: Final = Option(flag="--all", help="library frames, too.", is_flag=True)


def _chosen_threads(rows: "list[ThreadStacks]", given: Given) -> "list[ThreadStacks]":
    name = given.get("thread")
    if name is None:
        return rows
    chosen = [row for row in rows if fnmatch.fnmatchcase(row.thread, name)]
    if not chosen:
        there = ", ".join(dict.fromkeys(row.thread for row in rows)) or "none"
        raise InputError(f"No thread is called '{name}'. There are: {there}.")
    return chosen


STACKS: "View[StacksAnswer]" = View(
    name="stacks",
    words="functions --tree",
    question="which functions called which, and where did the time go?",
    computed="analyze.code.stack_tree:stacks",
    drawn="show.terminal.tree:tree",
    page="functions",
    rows=Rows(
        field="threads",
        sorts={
            "main": lambda row: 0,
            "time": lambda row: -row.total_ns,
            "name": lambda row: row.thread,
        },
        choose=_chosen_threads,
    ),
    options=(_THREAD, _ALL),
    drawn_with=lambda given: {"unfold": "all" in given},
)
