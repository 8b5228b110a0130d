"""A function of the user's, and those of theirs that it calls."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from stepscope.advise.evidence.source import Function, Sources, Text
from stepscope.trial.fixes.proposing.named_function import NamedFunction

# A model that is called runs these methods of its class.
_CALLED_BY_FRAMEWORKS = ("call", "__call__")


class Reached(NamedTuple):
    file: str
    text: Text
    node: Function


def reached_from(function: NamedFunction, sources: Sources) -> list[Reached]:
    """By name, the function itself first. Where it calls something that is no function of theirs,
    that may be a model."""
    first = Reached(function.recorded.file, function.text, function.node)
    found, waiting = [first], [first]
    while waiting:
        for each in _called_in(waiting.pop().node, sources):
            if all(each.node is not other.node for other in found):
                found.append(each)
                waiting.append(each)
    return found


def _called_in(node: Function, sources: Sources) -> Iterator[Reached]:
    names = {
        str(getattr(each, "attr", None) or getattr(each, "id", ""))
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load)
    }
    for file in sources.files:
        text = sources.text(file)
        for each in text.functions() if text else ():
            if text is not None and each.name in names | set(_CALLED_BY_FRAMEWORKS):
                yield Reached(file, text, each)
