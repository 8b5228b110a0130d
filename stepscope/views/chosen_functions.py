"""Which functions `lines` and `functions` show: by name and by file."""

import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from stepscope.errors import InputError
from stepscope.views.view import Given, Option

if TYPE_CHECKING:
    from stepscope.model import FunctionLines, FunctionRow

    Row = FunctionLines | FunctionRow

FUNCTION: Final = Option(
    flag="--function",
    help="only this one, plain or qualified name; may be repeated.",
    metavar="NAME",
    repeated=True,
    shows_all=True,
)
FILE: Final = Option(
    flag="--file",
    help="only files that match; may be repeated.",
    metavar="GLOB",
    repeated=True,
    shows_all=True,
)
_NAMING: Final = ("function", "callers", "callees")  # options that name functions


def chosen_functions(rows: "list[Row]", given: Given) -> "list[Row]":
    names = [name for option in _NAMING for name in given.get(option, ())]
    globs = given.get("file", ())
    chosen = [row for row in rows if _is_named(row, names) and _is_in(row, globs)]
    if rows and not chosen:
        raise InputError(f"No recorded function matches. There are: {_some_of(rows)}.")
    return chosen


def _is_named(row: "Row", names: Sequence[str]) -> bool:
    """By its qualified name, its plain name, or the end of the qualified name after a dot."""
    return not names or any(
        row.function in (name, f"<{name}>") or row.function.endswith(("." + name, f".{name}>"))
        for name in names
    )


def _is_in(row: "Row", globs: Sequence[str]) -> bool:
    """By the path as shown, or the file's own name."""
    base = row.file.rsplit("/", 1)[-1]
    return not globs or any(
        fnmatch.fnmatch(row.file, glob) or fnmatch.fnmatch(base, glob) for glob in globs
    )


def _some_of(rows: "list[Row]") -> str:
    known = list(dict.fromkeys(f"{row.function} ({row.file})" for row in rows))
    return ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
