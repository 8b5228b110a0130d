"""The user's functions that TensorFlow traced, and why again: as the names of the spans say."""

import ast
import os
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.patch import diff
from stepscope.advise.evidence.source import Function, Text
from stepscope.store.format import SpanCategory
from stepscope.trial.fixes.proposing.imports import name_of

_TRACED: Final = re.compile(r"^tf\.function (.+) \((.+):(\d+)\)(?:; again because (.+))?$")
_NUMBER: Final = re.compile(r"the Python value (\w+) is -?[\d.einf+-]+, was")
_SHAPE: Final = re.compile(r"^\w+ has the shape \(")


class Traced(NamedTuple):
    file: str
    text: Text
    node: Function
    function: str  # qualified name
    because: str | None  # None: it was traced once

    @property
    def at(self) -> str:
        return f"{self.node.name} ({self.file}:{self.node.lineno})"

    @property
    def place(self) -> dict[str, Any]:
        """As `inside.user_functions.Place` takes it."""
        return {
            "file": os.path.basename(self.file),
            "function": self.function,
            "first_line": _first_line(self.node),
        }

    @property
    def can_be_once(self) -> bool:
        """All that differs are sizes, or numbers."""
        because = self.because or ""
        return bool(_SHAPE.search(because) or _NUMBER.search(because))


def traced(case: Case) -> list[Traced]:
    """Each of the user's functions once: with the first reason, if it was traced again."""
    spans = case.process.spans.of(SpanCategory.COMPILE)
    names = (case.process.names.spans.get(number) for number in spans.name.tolist())
    found: dict[tuple[str, int], Traced] = {}
    for name in names:
        match = _TRACED.match(name.name) if name else None
        if match is None:
            continue
        key = match[2], int(match[3])
        before = found.get(key) or _written(case, *key)
        if before is not None:
            found[key] = before._replace(because=before.because or match[4])
    return list(found.values())


def traced_again(case: Case) -> list[Traced]:
    return [each for each in traced(case) if each.because is not None]


def _written(case: Case, base_name: str, first_line: int) -> Traced | None:
    """By the source: what ran is a copy that AutoGraph wrote."""
    for file in case.code.sources.files:
        text = case.code.sources.text(file)
        if os.path.basename(file) == base_name and text is not None and text.tree is not None:
            for function, node in _qualified(text.tree, ""):
                if _first_line(node) == first_line:
                    return Traced(file, text, node, function, None)
    return None


def _qualified(scope: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
            yield from _qualified(node, f"{prefix}{node.name}.<locals>.")
        elif isinstance(node, ast.ClassDef):
            yield from _qualified(node, f"{prefix}{node.name}.")
        else:
            yield from _qualified(node, prefix)


# --- the change to make by hand -------------------------------------------------------------------


def patch_for(function: Traced) -> str:
    """The number as a tensor where the function is called, or a decorator that says more."""
    number = _NUMBER.search(function.because or "")
    text, node = function.text, function.node
    edited = _with_tensor(text, node, number[1]) if number else _reduced(text, node)
    found = diff(function.file, text.lines, edited) if edited else None
    if found is not None:
        return found
    if number:
        return f"# {function.at}: pass {number[1]} as a tensor\ntf.constant({number[1]})\n"
    return f"# {function.at}\n@tf.function(reduce_retracing=True)\n"


def _first_line(node: Function) -> int:
    return min([each.lineno for each in node.decorator_list], default=node.lineno)


def _reduced(text: Text, node: Function) -> list[str] | None:
    """`@tf.function` with the argument."""
    for each in node.decorator_list:
        if ast.unparse(each).endswith(".function") and each.end_lineno == each.lineno:
            lines = list(text.lines)
            lines[each.lineno - 1] += "(reduce_retracing=True)"
            return lines
    return None


def _with_tensor(text: Text, node: Function, parameter: str) -> list[str] | None:
    """The argument of the only call, inside tf.constant()."""
    calls = [
        each
        for each in ast.walk(text.tree or ast.Module([], []))
        if isinstance(each, ast.Call) and ast.unparse(each.func).endswith(node.name)
    ]
    given = _argument(calls[0], node, parameter) if len(calls) == 1 else None
    if given is None or given.lineno != given.end_lineno:
        return None
    lines, row = list(text.lines), given.lineno - 1
    raw, start, end = lines[row].encode(), given.col_offset, given.end_col_offset or 0
    constant = f"{name_of(text, 'tensorflow', 'tf')}.constant(".encode()
    lines[row] = (raw[:start] + constant + raw[start:end] + b")" + raw[end:]).decode()
    return lines


def _argument(call: ast.Call, node: Function, parameter: str) -> ast.expr | None:
    by_name = [each.value for each in call.keywords if each.arg == parameter]
    names = [each.arg for each in node.args.args if each.arg != "self"]
    place = names.index(parameter) if parameter in names else len(call.args)
    is_plain = not any(isinstance(each, ast.Starred) for each in call.args)
    found = by_name or call.args[place : place + 1]
    return found[0] if found and is_plain else None
