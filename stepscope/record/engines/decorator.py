"""`@stepscope.profile`: exact lines of any function, whatever the budget."""

from types import FunctionType

from stepscope.record.engines import lines
from stepscope.typed import Any, TypeVar

F = TypeVar("F")

# Decorated before a recording: one that starts later registers them.
waiting: list[FunctionType] = []


def profile(function: F) -> F:
    """Record the lines of `function` exactly; it is returned unchanged."""
    for plain in functions_in(function):
        if lines.is_enabled():
            lines.register_function(plain, exact=True)
        else:
            waiting.append(plain)
    return function


def functions_in(thing: Any) -> list[FunctionType]:
    """The Python functions behind a function, method, property, partial or class."""
    if isinstance(thing, FunctionType):
        return [thing]
    if isinstance(thing, property):
        return [f for part in (thing.fget, thing.fset, thing.fdel) for f in functions_in(part)]
    if isinstance(thing, type):
        return [f for member in vars(thing).values() for f in functions_in(member)]
    for attribute in ("__func__", "func", "__wrapped__"):
        inner = getattr(thing, attribute, None)
        if inner is not None and inner is not thing:
            return functions_in(inner)
    return []
