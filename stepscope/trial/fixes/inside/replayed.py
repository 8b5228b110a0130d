"""A function whose result is used again: it works once for arguments of each shape."""

import functools
from collections.abc import Callable
from typing import Any

from stepscope.trial.fixes.inside.less_often import Say


def replayed(function: Callable[..., Any], say: Say) -> Callable[..., Any]:
    """`say`: gets a few words at the first call that is left out."""
    results: dict[Any, Any] = {}

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        key = _shapes(args), tuple(kwargs), _shapes(kwargs.values())
        if key not in results:
            results[key] = function(*args, **kwargs)
        else:
            say("its first result again and again")
        return results[key]

    return run


def _shapes(values: Any) -> tuple[Any, ...]:
    """The last batch of an epoch may be smaller, and so is what comes out of it."""
    return tuple(map(_shape, values))


def _shape(value: Any) -> Any:
    shape = getattr(value, "shape", None)
    if shape is not None:
        return type(value), str(shape)
    return type(value), len(value) if isinstance(value, list | tuple | dict | str) else None
