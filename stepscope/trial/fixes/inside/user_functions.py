"""One of the user's own functions, replaced while the script runs.

The script may hold a function anywhere: in its module, a class, a list of callbacks, under another
name in another module, inside a decorator's wrapper. So the function object stays, and is given
other code, which calls what replaces it. The function as it was goes on in a copy.
"""

import gc
import inspect
import os
import weakref
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple

from stepscope.record.frameworks.watching import moments
from stepscope.record.frameworks.watching.patches import Patches

Wrap = Callable[[FunctionType], Callable[..., Any]]

_PLACEHOLDER: Final = "stepscope: what is called instead"
# The functions as they were: a second fix of the same function must not change these.
_copies: Final["weakref.WeakSet[FunctionType]"] = weakref.WeakSet()


class Place(NamedTuple):
    """Where a function was written. Its folder is left out: the script may run in a copy."""

    file: str  # base name
    function: str  # qualified name
    first_line: int

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Place":
        return cls(settings["file"], settings["function"], settings["first_line"])

    def has(self, code: CodeType) -> bool:
        return (
            code.co_firstlineno == self.first_line
            and code.co_qualname == self.function
            and os.path.basename(code.co_filename) == self.file
        )


def when_defined(place: Place, wrap: Wrap, patches: Patches) -> None:
    """Replace the function by `wrap(function)` before the steps begin: it is not there until its
    `def` has run. Calls before that are the function's own."""

    def replace_all() -> bool:
        found = [each for each in _functions() if place.has(each.__code__)]
        for function in found:
            replace(function, wrap, patches)
        return bool(found)

    moments.until(replace_all)


def _functions() -> list[FunctionType]:
    return [each for each in gc.get_objects() if type(each) is FunctionType and each not in _copies]


def replace(function: FunctionType, wrap: Wrap, patches: Patches) -> None:
    before = function.__code__
    after = _calling(wrap(_copy(function)), before)
    if "__signature__" not in vars(function):  # frameworks look at what a hook of theirs takes
        function.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # it may
        patches.on_undo(lambda: vars(function).pop("__signature__", None))
    function.__code__ = after

    def undo() -> None:
        if function.__code__ is after:
            function.__code__ = before

    patches.on_undo(undo)


def _copy(function: FunctionType) -> FunctionType:
    copy = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__dict__.update(function.__dict__)
    _copies.add(copy)
    return copy


def _calling(target: Callable[..., Any], instead_of: CodeType) -> CodeType:
    """Code that hands its arguments on. It has as many free variables as the code it replaces:
    Python asks for that, because a function keeps its closure."""
    free = "".join(f"{name}, " for name in instead_of.co_freevars)
    source = (
        f"def outer({free}):\n"
        " def inner(*args, **kwargs):\n"
        f"  if 0: ({free})\n"
        f"  target = {_PLACEHOLDER!r}\n"
        "  return target(*args, **kwargs)\n"
    )
    outer = _code_in(compile(source, instead_of.co_filename, "exec"))
    inner = _code_in(outer)
    return inner.replace(
        co_consts=tuple(target if each == _PLACEHOLDER else each for each in inner.co_consts),
        co_name=instead_of.co_name,
        co_qualname=instead_of.co_qualname,
        co_firstlineno=instead_of.co_firstlineno,
    )


def _code_in(code: CodeType) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType))
