"""Functions whose calls are recorded, most of them as spans, and which are otherwise unchanged."""

import functools
from collections.abc import Callable

from stepscope.native import _core
from stepscope.record.frameworks.watching import compiled_graphs, notes
from stepscope.record.names import naming
from stepscope.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.store.format import SpanCategory


def timed(
    function: Callable[..., Any],
    category: "SpanCategory",
    label: str,
    only_if: Callable[[], bool] | None = None,
) -> Callable[..., Any]:
    """`function`, with its time recorded if `only_if` holds: our frame is removed from exceptions.
    Calls no function of ours, unlike `watched`: some of these are called all the time."""

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


def end_span(span: int, _result: Any) -> None:
    _core.span_end(span)


def do_nothing(*_args: Any) -> None:
    return


def watched(
    function: Callable[..., Any],
    begins: Callable[..., Any],
    ended: Callable[[Any, Any], object] = end_span,
    failed: Callable[[Any, BaseException], object] | None = None,
) -> Callable[..., Any]:
    """`function`, with hooks around each call: our frame is removed from exceptions.

    `begins` gets the arguments, and returns what the hooks at the end need; None: they are not
    called. `ended` gets that and the result. After an exception, `failed` gets it with that, or,
    without a `failed`, `ended` with None as the result. An exception in a hook is noted, and never
    reaches the script."""
    hooks: tuple[Any, ...] = (begins, ended, failed)
    for hook in hooks:
        if hasattr(hook, "__code__"):
            compiled_graphs.are_not_for(hook)
    name = getattr(function, "__qualname__", None) or repr(function)
    guarded = notes.guard(f"{name} is not watched completely")

    @functools.wraps(function, assigned=_names_of(function))
    def run(*args: Any, **kwargs: Any) -> Any:
        if compiled_graphs.is_compiling():
            return function(*args, **kwargs)
        call = guarded(begins, *args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            if call is not None:
                guarded(failed or ended, call, error if failed else None)
            raise
        if call is not None:
            guarded(ended, call, result)
        return result

    return run


def followed(function: Callable[..., Any], then: Callable[..., object]) -> Callable[..., Any]:
    """`function`; `then` gets the same arguments after each call that has not raised."""
    compiled_graphs.are_not_for(then)
    return watched(function, functools.partial(functools.partial, then), _call, do_nothing)


def _call(then: Callable[[], object], _result: Any) -> None:
    then()


def _names_of(function: Any) -> list[str]:
    """A method written in C may have None for its __qualname__, which our functions cannot."""
    has_all = getattr(function, "__qualname__", None) is not None
    return [name for name in functools.WRAPPER_ASSIGNMENTS if has_all or name != "__qualname__"]


@compiled_graphs.are_not_for
def leave_out_this_frame(error: BaseException) -> None:
    """Call this where it was caught, before a bare `raise`, which does not add the frame again."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
