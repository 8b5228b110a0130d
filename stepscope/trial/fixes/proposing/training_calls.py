"""Calls in the user's source that change what is trained: weights, their averages, a schedule."""

import ast
import re
from collections.abc import Iterator
from typing import Final, cast

from stepscope.advise.evidence.source import Function, Sources

_TRAINS: Final = re.compile(
    r"\.(step|backward|load_state_dict|apply_gradients|minimize)$"
    r"|\.(assign|assign_add|assign_sub|set_weights)$"
    r"|\.(?!requires_grad_$)[a-z]\w*_$"  # torch's, in place: mul_, lerp_, copy_
)


def training_line(function: Function, sources: Sources) -> int | None:
    """The first line of the function that does, also in functions of the user's that it calls by
    name: then the line of the call."""
    return next(_lines(function, sources, {function.name}), None)


def _lines(function: Function, sources: Sources, seen: set[str]) -> Iterator[int]:
    for node in sorted(_changes(function), key=lambda each: each.lineno):
        name = ast.unparse(node.func) if isinstance(node, ast.Call) else None
        if name is None or _TRAINS.search(name):
            yield node.lineno
            continue
        last = name.rpartition(".")[2]
        if last not in seen:
            seen.add(last)
            inner = sources.definitions(last)
            if any(next(_lines(each, sources, seen), None) for each in inner):
                yield node.lineno


def _changes(function: Function) -> Iterator[ast.Call | ast.AugAssign]:
    """Calls, and what changes the data of a parameter: `p.data -= …`."""
    for node in ast.walk(function):
        is_data = isinstance(node, ast.AugAssign) and ast.unparse(node.target).endswith(".data")
        if is_data or isinstance(node, ast.Call):
            yield cast("ast.Call | ast.AugAssign", node)
