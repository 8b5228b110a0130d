"""Which of the recorded functions a line may call, read from its text."""

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from stepscope.model import FunctionLines

MODULE: Final = "<module>"
COMPREHENSIONS: Final = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
_CALL: Final = re.compile(r"(\w+)\s*\(")
_USE: Final = re.compile(r"(\w+)\s*([(\[]?)")
_MADE: Final = re.compile(r"(\w+)\s*(?::[^=]+)?=\s*(?:\w+\.)*(\w+)\(")  # model = Model(
_WORD: Final = re.compile(r"\w+")
_DEFINES: Final = ("def ", "class ", "async def ", "@")
_IMPORTS: Final = ("import ", "from ")
_LOOPS: Final = ("for ", "async for ")
# Methods that the language or a framework calls without their name: model(x), data[i].
_BY_SIGN: Final = {"(": ("__call__", "forward"), "[": ("__getitem__",)}
_IN_A_LOOP: Final = ("__iter__", "__next__", "__getitem__")


def called_name(function: FunctionLines) -> str:
    """The name by which code calls it: a class's for its __init__, a module's for its top level,
    a comprehension's own place, class and method if the method is called without its name."""
    if function.function == MODULE:
        path = PurePath(function.file)
        return "import " + (path.parent.name if path.stem == "__init__" else path.stem)
    if function.function.endswith(COMPREHENSIONS):
        return place_name(function.file, function.first_line)
    parts = function.function.split(".")
    if len(parts) > 1 and parts[-1] == "__init__":
        return parts[-2]
    return ".".join(parts[-2:]) if parts[-1].endswith("__") else parts[-1]


def place_name(file: str, line: int) -> str:
    return f"{file}:{line}"


class Names:
    """What the recorded functions are called, and which variables hold objects of their classes."""

    def __init__(self, functions: Iterable[FunctionLines]) -> None:
        recorded = list(functions)
        self.known = {called_name(function) for function in recorded}
        self._methods = {
            tuple(function.function.split(".")[-2:]): called_name(function) for function in recorded
        }
        classes = {parts[0] for parts in self._methods if len(parts) > 1}
        texts = (row.source or "" for function in recorded for row in function.lines)
        found = (match for text in texts for match in _MADE.findall(text))
        self._class_of = {name: made for name, made in found if made in classes}

    def called_in(self, text: str) -> set[str]:
        """Names of the recorded functions that a line of this text may call."""
        text = text.strip()
        if text.startswith(_DEFINES):
            return set()
        if text.startswith(_IMPORTS):
            return {f"import {word}" for word in _WORD.findall(text)} & self.known
        return (set(_CALL.findall(text)) & self.known) | self._unnamed(text)

    def _unnamed(self, text: str) -> set[str]:
        called = set()
        in_a_loop = _IN_A_LOOP if text.startswith(_LOOPS) else ()
        for word, sign in _USE.findall(text):
            for method in (*_BY_SIGN.get(sign, ()), *in_a_loop):
                name = self._methods.get((self._class_of.get(word, ""), method))
                if name is not None:
                    called.add(name)
        return called
