"""What the script sets while the steps run: names, and attributes of its objects."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.source import Function, Text, last_line
from stepscope.trial.fixes.proposing.imports import modules_of, root_of
from stepscope.trial.fixes.proposing.reached import Reached

_PREPARES = ("__init__", "__post_init__", "build", "setup")


class Changing(NamedTuple):
    names: dict[str, str]  # to the place: "train.py:31"
    attributes: dict[str, str]


def changing_values(case: Case) -> Changing:
    """Set in the loop of the steps or a loop around it, or in a function that ran several times."""
    found = Changing({}, {})
    for file in case.code.sources.files:
        text = case.code.sources.text(file)
        if text is not None and text.tree is not None:
            for node in _in_step_loops(case, file, text):
                _note(found, node, file)
            for function, node in _in_functions(case, file, text):
                if root_of(node) not in _locals(function) or isinstance(node, ast.Attribute):
                    _note(found, node, file)
    return found


def reads(each: Reached, changing: Changing) -> str | None:
    """Which of these a function takes from outside: "train.py:12 reads rate, which train.py:31
    sets again"."""
    own = _locals(each.node) | modules_of(each.text).keys() | _defined(each.text)
    for node in ast.walk(each.node):
        if isinstance(node, ast.Name) and node.id not in own:
            where = changing.names.get(node.id)
        elif isinstance(node, ast.Attribute) and root_of(node) not in modules_of(each.text):
            where = changing.attributes.get(node.attr)
        else:
            continue
        if where is not None and isinstance(node.ctx, ast.Load):
            at = f"{each.file}:{node.lineno}"
            return f"{at} reads {ast.unparse(node)}, which {where} sets again"
    return None


def _note(found: Changing, node: ast.Name | ast.Attribute | ast.Subscript, file: str) -> None:
    where = f"{file}:{node.lineno}"
    if isinstance(node, ast.Attribute):
        found.attributes.setdefault(node.attr, where)
    elif (name := root_of(node)) is not None:
        found.names.setdefault(name, where)


def _in_step_loops(
    case: Case, file: str, text: Text
) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    header = case.code.step_header
    if header is None or header.file != file:
        return
    for loop in text.loops():
        if loop.lineno <= header.line <= last_line(loop):
            yield from _stored(loop)


def _in_functions(
    case: Case, file: str, text: Text
) -> Iterator[tuple[Function, ast.Name | ast.Attribute | ast.Subscript]]:
    ran = {
        row.line
        for function in case.code.functions
        if function.file == file
        for row in function.lines
        if row.hits > 1
    }
    for function in text.functions():
        if function.name not in _PREPARES:
            for node in _stored(function):
                if node.lineno in ran:
                    yield function, node


def _stored(node: ast.AST) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute | ast.Subscript) and isinstance(
            each.ctx, ast.Store | ast.Del
        ):
            yield each


def _locals(function: Function) -> set[str]:
    """Names that are its own, or of functions inside it."""
    outside = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return (arguments | stored) - outside


def _defined(text: Text) -> set[str]:
    return {
        node.name
        for node in ast.walk(text.tree or ast.Module([], []))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
