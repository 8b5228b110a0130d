"""Functions whose calls are recorded as spans, otherwise unchanged."""

import functools
from collections.abc import Callable
from typing import Any

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory


def timed(
    function: Callable[..., Any],
    category: SpanCategory,
    label: str,
    only_if: Callable[[], bool] | None = None,
) -> Callable[..., Any]:
    """`function`, with its time recorded if `only_if` holds: our frame is removed from exceptions.
    Hooks that do more than that around a call have their own wrapper: a function that this one
    called for them would be another frame in every call."""

    number = int(category)  # an attribute of an enumeration takes longer than the span itself

    @functools.wraps(function, assigned=_names_of(function))
    def run(*args: Any, **kwargs: Any) -> Any:
        if compiled_graphs.is_compiling():
            return function(*args, **kwargs)
        span = 0
        if naming.name_id is not None and (only_if is None or only_if()):
            span = _core.span_begin(naming.name_id(label), number)
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span)

    return run


def _names_of(function: Any) -> list[str]:
    """A method written in C may have None for its __qualname__, which our functions cannot."""
    has_all = getattr(function, "__qualname__", None) is not None
    return [name for name in functools.WRAPPER_ASSIGNMENTS if has_all or name != "__qualname__"]


@compiled_graphs.are_not_for
def leave_out_this_frame(error: BaseException) -> None:
    """Call this where it was caught, before a bare `raise`, which does not add the frame again."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
