"""Unified diffs against the user's own lines."""

import ast
import difflib
import re
from collections.abc import Callable, Mapping

from stepscope.advise.evidence.source import Text

_IMPORT = re.compile(r"\s*(import|from)\s")


def diff(file: str, before: list[str], after: list[str]) -> str | None:
    """For `patch -p0`; None if nothing changed."""
    lines = difflib.unified_diff(before, after, file, file, lineterm="", n=2)
    return "\n".join(lines) + "\n" if before != after else None


def decorated(file: str, text: Text, line: int, decorator: str, imported: str | None) -> str | None:
    """The function around `line` with one more decorator."""
    function = text.function_at(line)
    if function is None:
        return None
    first = min([each.lineno for each in function.decorator_list], default=function.lineno)
    indent = text.lines[function.lineno - 1][: function.col_offset]
    after = list(text.lines)
    after.insert(first - 1, f"{indent}@{decorator}")
    return diff(file, text.lines, with_import(after, imported) if imported else after)


def with_import(lines: list[str], statement: str) -> list[str]:
    """Adds it above the first import at the top level, unless it is already there."""
    if any(line.strip() == statement for line in lines):
        return lines
    tops = [i for i, line in enumerate(lines) if _IMPORT.match(line) and not line[:1].isspace()]
    ahead = [i for i in tops if not lines[i].startswith("from __future__")]
    where = ahead[0] if ahead else (tops[-1] + 1 if tops else 0)
    return [*lines[:where], statement, *lines[where:]]


def with_argument(
    file: str, text: Text, wanted: Callable[[str], bool], name: str, value: str
) -> str | None:
    """The one call of a function of these names, with one keyword set."""
    return with_arguments(file, text, wanted, {name: value})


def with_arguments(
    file: str, text: Text, wanted: Callable[[str], bool], values: Mapping[str, str]
) -> str | None:
    lines, tree = text.lines, text.tree
    for name, value in values.items():
        calls = [
            node
            for node in ast.walk(tree or ast.Module([], []))
            if isinstance(node, ast.Call) and wanted(_called(node))
        ]
        if len(calls) != 1 or any(keyword.arg is None for keyword in calls[0].keywords):
            return None  # it is not clear which one is meant
        lines = _set_keyword(lines, calls[0], name, value)
        tree = ast.parse("\n".join(lines))  # what was added moved the rest
    return diff(file, text.lines, lines)


def _called(call: ast.Call) -> str:
    function = call.func
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


def _set_keyword(lines: list[str], call: ast.Call, name: str, value: str) -> list[str]:
    after = list(lines)
    for keyword in call.keywords:
        if keyword.arg == name and keyword.value.lineno == keyword.value.end_lineno:
            row, old = keyword.value.lineno - 1, keyword.value
            after[row] = _replaced(after[row], old.col_offset, old.end_col_offset or 0, value)
            return after
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    ends = [(each.end_lineno or each.lineno, each.end_col_offset or 0) for each in given]
    row, column = max(ends, default=(call.end_lineno or 0, (call.end_col_offset or 1) - 1))
    words = f"{', ' if given else ''}{name}={value}"
    after[row - 1] = _replaced(after[row - 1], column, column, words)
    return after


def _replaced(line: str, start: int, end: int, words: str) -> str:
    """Columns of the syntax tree count bytes."""
    raw = line.encode()
    return (raw[:start] + words.encode() + raw[end:]).decode()
