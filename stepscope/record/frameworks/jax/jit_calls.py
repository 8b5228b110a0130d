"""JAX: calls of the user's jitted functions, as the phase `compute`, and with them the steps.

Only functions that the user's own code jits are watched, or the user's that a library jits.
Inside a trace, where one jitted function calls another, nothing happens at all.
"""

import functools
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import compilation, stand_in
from stepscope.record.frameworks.jax.jitted_functions import Functions, Jit
from stepscope.record.frameworks.watching import notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming
from stepscope.signal_handlers import let_pass

_MAKERS: Final = ("jit", "pmap")
_FRAMES: Final = 8  # of libraries, between the user's line and jax.jit
_MOST_WRAPPERS: Final = 20  # a chain may lead back to itself
_here = compilation.here


class Jitted(stand_in.StandIn):
    """The state is its Jit. Not `watched`, which would be a frame more in every call."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        function = self._stepscope_function
        if naming.name_id is None or _here.is_running or not stand_in.runs_for_real():
            try:
                return function(*args, **kwargs)
            except BaseException as error:
                leave_out_this_frame(error)
                raise
        jit = self._stepscope_state
        span = jit.begins(self, args, kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            _here.is_running = False
            _core.span_end(span)
            leave_out_this_frame(error)
            raise
        jit.ended(span, args, kwargs, result)
        return result


def install(jax: Any, patches: Patches) -> None:
    functions = Functions(sys.modules["jax._src.array"].ArrayImpl, jax.tree_util)
    for name in _MAKERS:
        if callable(vars(jax).get(name)):
            watch_maker(jax, name, functions_stand_in(functions), patches)


def watch_maker(
    jax: Any, name: str, make_stand_in: Callable[[Any, FrameType], Any], patches: Patches
) -> None:
    """`jax.name(function, …)`, or `jax.name(…)(function)`: the result gets a stand-in."""
    maker = _giving_stand_ins(vars(jax)[name], make_stand_in)
    maker.__module__ = jax.__name__  # where a pickle finds it: its own module keeps JAX's
    patches.set(jax, name, maker)


def _giving_stand_ins(make: Any, make_stand_in: Callable[[Any, FrameType], Any]) -> Any:
    """Not `watched`: the caller gets the stand-in instead of what was made."""

    @functools.wraps(make)
    def made_by(*args: Any, **kwargs: Any) -> Any:
        try:
            made = make(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        if naming.name_id is None:
            return made
        if not args and "fun" not in kwargs:  # a decorator that does not have its function yet
            return _giving_stand_ins(made, make_stand_in)
        try:
            return make_stand_in(made, sys._getframe(1))
        except Exception as error:
            let_pass(error)
            notes.note(f"A jitted function is not watched: {error!r}.")
            return made

    return made_by


def functions_stand_in(functions: Functions) -> Callable[[Any, FrameType], Any]:
    def stand_in(made: Any, frame: FrameType) -> Any:
        code, caller = users_code(made), user_frame(frame)
        if code is None and caller is None:
            return made
        return Jitted(made, Jit(functions, made, code, caller))

    return stand_in


# --- whose it is ----------------------------------------------------------------------------------


def users_code(function: Any) -> CodeType | None:
    """The user's function inside the wrappers of libraries."""
    for _ in range(_MOST_WRAPPERS):
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType) and _core.lines_is_registered(code):
            return code
        for inside in ("__wrapped__", "func", "__func__"):  # func: of functools.partial
            inner = getattr(function, inside, None)
            if callable(inner):
                function = inner
                break
        else:
            return None
    return None


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The user's line that leads here, through a library or two, but not through an import."""
    for _ in range(_FRAMES):
        if frame is None or frame.f_code.co_filename.startswith("<frozen importlib"):
            return None
        if _core.lines_is_registered(frame.f_code):
            return frame
        frame = frame.f_back
    return None
