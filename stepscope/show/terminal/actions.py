"""The actions view: what the framework's profiler gets, as a tree that adds up."""

import re
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from stepscope.model import ActionRow, ActionsAnswer
from stepscope.show.terminal.drawing.cells import duration_cell
from stepscope.show.terminal.drawing.numbers import count, duration, percent
from stepscope.show.terminal.drawing.page import (
    columns,
    heading,
    indented,
    more,
    name,
    notes_block,
    page,
)

_LEAST_SHARE: Final = 0.002  # of the time in actions
# Parts of Lightning's names that say little: the hook's owner where the class already names it, and
# the options that a callback was made with.
_KIND: Final = re.compile(r"^\[\w+\](?=\w)")
_OPTIONS: Final = re.compile(r"\{.*\}")
_NONE: Final = (
    "None. Only Lightning's trainers report actions; see 'stepscope show regions' for other ranges."
)


def actions(answer: ActionsAnswer, *, top: int | None = None) -> RenderableType:
    shown = _longest(answer.actions) if top is None else answer.actions[: top or None]
    if not shown:
        return page([heading("Actions"), indented(Text(_NONE)), *notes_block(answer.notes)])
    table = columns(
        ("action", "name"),
        ("calls", "right"),
        ("total", "right"),
        ("self", "right"),
        ("per call", "right"),
        ("share", "right"),
    )
    for row in shown:
        table.add_row(
            name("  " * row.depth + _short(row.name)),
            count(row.calls),
            duration_cell(row.total_ns),
            duration_cell(row.self_ns),
            duration_cell(row.mean_ns),
            percent(row.share),
        )
    about = f"share is of {duration(answer.total_ns)}; self is without what lies below"
    return page(
        [
            heading("Actions", about),
            indented(table),
            *more(len(answer.actions), len(shown), "action"),
            *notes_block(answer.notes),
        ]
    )


def _short(action: str) -> str:
    return _OPTIONS.sub("", _KIND.sub("", action))


def _longest(rows: list[ActionRow]) -> list[ActionRow]:
    """Most hooks do nothing. No action is longer than its parent, so the tree stays whole."""
    in_actions_ns = sum(row.total_ns for row in rows if row.depth == 0)
    return [row for row in rows if row.total_ns >= _LEAST_SHARE * in_actions_ns]
