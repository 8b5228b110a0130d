"""Where the user's source calls a function, as far as names say."""

import ast
import functools
from collections.abc import Iterator
from typing import Final

from stepscope.advise.evidence.source import Function, Text
from stepscope.advise.evidence.unchanging.names_bound import last_name

_CALLED_AS: Final = ("forward", "call", "__call__")  # by calling the object


class Callers:
    def __init__(self, texts: list[Text]) -> None:
        self._texts = texts

    def calls_of(self, function: Function) -> Iterator[tuple[Text, ast.Call]]:
        names = self._known_as(function)
        for text in self._texts:
            for node in ast.walk(text.tree) if text.tree else ():
                if isinstance(node, ast.Call) and last_name(node) in names:
                    yield text, node

    @functools.cache  # noqa: B019  # lives as long as the case does
    def _known_as(self, function: Function) -> frozenset[str]:
        """Its name; of what calling an object does, the names of such objects."""
        if function.name not in _CALLED_AS:
            return frozenset((function.name,))
        trees = [text.tree for text in self._texts if text.tree]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        owners = [n.name for n in nodes if isinstance(n, ast.ClassDef) and function in n.body]
        return frozenset(
            str(getattr(target, "attr", None) or getattr(target, "id", ""))
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
            for target in node.targets
            if last_name(node.value) in owners
        )
