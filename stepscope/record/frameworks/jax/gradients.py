"""JAX without jit: gradients taken operator by operator, as the phase `backward`.

`jax.value_and_grad(loss)(…)` runs forward and backward in one, and cannot be split.
"""

from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import compilation, jit_calls, jitted_functions, stand_in
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming
from stepscope.store.format import BackwardFlag, SpanCategory

_WITH_VALUE: Final = "value_and_grad"
_MAKERS: Final = ("grad", _WITH_VALUE)
# Called with the result of a function that returns its value too. None: no listener.
on_value: Callable[[Any], object] | None = None


class Differentiated(stand_in.StandIn):
    """The state is its name."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        span = 0
        if naming.name_id is not None and compilation.is_outside():
            name = naming.name_id(self._stepscope_state)
            span = _core.span_begin(name, SpanCategory.BACKWARD, 0, BackwardFlag.WITH_FORWARD)
        try:
            result = self._stepscope_function(*args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span)
                compilation.here.asked = 0
                jitted_functions.worked()
        if span and on_value is not None and self._stepscope_state == _WITH_VALUE:
            on_value(result)
        return result


def install(jax: Any, patches: Patches) -> None:
    for name in _MAKERS:
        if callable(vars(jax).get(name)):
            _watch(jax, name, patches)


def _watch(jax: Any, name: str, patches: Patches) -> None:
    def differentiated(made: Any, frame: FrameType) -> Any:
        if not stand_in.runs_for_real():
            return made  # it is made inside a trace, and called there
        is_users = jit_calls.user_frame(frame) or jit_calls.users_code(made)
        return Differentiated(made, name) if is_users else made

    jit_calls.watch_maker(jax, name, differentiated, patches)
