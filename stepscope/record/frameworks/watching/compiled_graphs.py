"""Keeps torch.compile's graphs as they are without us.

Dynamo reads through a hook that a graph calls: the hook asks `is_compiling` first, and then calls
the original at once. After a graph break, Dynamo looks at every function that is called from there
on, and would begin a new graph in ours.
"""

from collections.abc import Callable
from types import CodeType

from stepscope.typed import Any, Final, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def _nothing(_code: CodeType) -> None:
    return


# Whether Dynamo is reading the code instead of running it. Without torch it costs no Python call:
# `bool()` is False, and makes no frame.
is_compiling: Callable[[], bool] = bool
# Begin no graph in this code, but allow it in what it calls: a hook calls the script's functions.
begin_none_in: Callable[[CodeType], object] = _nothing
_begin_none_below: Callable[[CodeType], object] = _nothing
_ours: Final[set[CodeType]] = set()


def are_not_for(function: F) -> F:
    """For functions that our hooks call: no graph in them, nor in anything they call."""
    code = cast(Any, function).__code__
    _ours.add(code)
    _begin_none_below(code)
    return function


def install(torch: Any) -> None:
    """Without an import of torch._dynamo, which takes seconds."""
    global is_compiling, begin_none_in, _begin_none_below
    is_compiling = torch.compiler.is_dynamo_compiling
    inside = torch._C._dynamo.eval_frame
    if hasattr(inside, "skip_code"):  # before torch 2.7
        begin_none_in = _begin_none_below = inside.skip_code
    else:
        action = inside._FrameAction
        begin_none_in = _setting(inside, action.SKIP, action.DEFAULT)
        _begin_none_below = _setting(inside, action.SKIP, action.SKIP)
    for code in _ours:
        _begin_none_below(code)


def _setting(inside: Any, here: Any, below: Any) -> Callable[[CodeType], object]:
    strategy = inside._FrameExecStrategy(here, below)
    return lambda code: inside.set_code_exec_strategy(code, strategy)
