"""Calls of the user's functions that tf.function made, outside all graphs."""

import functools
import importlib
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.trial.fixes.inside.user_functions import Place

_MADE_BY: Final = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
Call = Callable[..., Any]  # (graph function, *args, **kwargs)


def replace_calls(
    tensorflow: Any, places: list[Place], patches: Patches, make: Callable[[Any, Call], Call]
) -> None:
    """`make` gets a graph function and the way to call one; what it returns is called instead."""
    made_by = importlib.import_module(_MADE_BY).Function
    before: Call = made_by.__call__
    calls: weakref.WeakKeyDictionary[Any, Call | None] = weakref.WeakKeyDictionary()

    def call_of(function: Any) -> Call | None:
        if function not in calls:
            code = _code_of(function)
            is_wanted = code is not None and any(place.has(code) for place in places)
            calls[function] = make(function, before) if is_wanted else None
        return calls[function]

    @functools.wraps(before)
    def __call__(self: Any, *args: Any, **kwds: Any) -> Any:
        call = call_of(self) if tensorflow.executing_eagerly() else None
        return before(self, *args, **kwds) if call is None else call(*args, **kwds)

    patches.set(made_by, "__call__", __call__)


def twin(function: Any, **settings: Any) -> Any:
    """The same Python function as another graph function, not traced so far."""
    made = function._clone(None)
    for name, value in settings.items():
        setattr(made, f"_{name}", value)
    return made


def _code_of(function: Any) -> CodeType | None:
    inner = function._python_function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    return code if isinstance(code, CodeType) else None
