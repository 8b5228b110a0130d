"""Which part of a run is shown: by process and rank; which rows of an answer, in which order."""

import dataclasses
from typing import TYPE_CHECKING, TypeVar

import msgspec

from stepscope.errors import InputError
from stepscope.views.view import Given, Key, View

if TYPE_CHECKING:
    from stepscope.analyze.run import Run

Answer = TypeVar("Answer", bound=msgspec.Struct)


def only(run: "Run", *, process: int | None = None, rank: int | None = None) -> "Run":
    """The run as if only the process asked for, by pid or rank, had taken part."""
    from stepscope.analyze.run import select as select_process

    if process is None and rank is None:
        return run
    chosen = select_process(run, process, rank)
    return dataclasses.replace(run, processes=[] if chosen is None else [chosen])


def select(view: View[Answer], answer: Answer, given: Given) -> Answer:
    """The answer with the chosen rows only, in the chosen order."""
    rows = view.rows_of(answer)
    if view.rows is None or rows is None:
        return answer
    chosen = view.rows.choose(rows, given)
    if "sort" in given:
        chosen = sorted(chosen, key=_sort_key(view, given["sort"]))
    return msgspec.structs.replace(answer, **{view.rows.field: chosen})


def first(view: View[Answer], answer: Answer, top: int) -> Answer:
    """The answer with this many rows; 0: all of them."""
    rows = view.rows_of(answer)
    if view.rows is None or rows is None or not top:
        return answer
    return msgspec.structs.replace(answer, **{view.rows.field: rows[:top]})


def _sort_key(view: View[Answer], name: str) -> Key:
    sorts = view.rows.sorts if view.rows else {}
    if name not in sorts:
        raise InputError(f"Cannot sort {view.name} by '{name}'. It sorts by: {', '.join(sorts)}.")
    return sorts[name]
