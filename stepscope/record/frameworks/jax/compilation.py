"""JAX: tracing, lowering and compiling, as JAX reports them when they have ended.

Inside a call of the user's jitted function they are part of one compilation, which that call
records with its cause (jitted_functions). Elsewhere, with operators run one by one, each is
recorded separately.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import stand_in
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_EVENTS: Final = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_SHORTEST_S: Final = 50e-6  # many small functions are traced inside one


class _Here(threading.local):
    """The user's jitted function that runs on this thread, what was compiled in it, and what came
    after it."""

    is_running = False
    began = 0  # ticks
    first = 0  # when the first compilation in it began, 0: none
    last = 0  # when the last one ended
    result: Any = None  # of the step that ends right now
    asked = 0  # when an optimizer was asked for its update, since the last gradients; 0: not yet


here: Final = _Here()
# Called when something was compiled. None: no listener.
on_compiled: Callable[[], None] | None = None


def is_outside() -> bool:
    """Traces, and what a jitted function calls."""
    return not here.is_running and stand_in.runs_for_real()


def install(_jax: Any, patches: Patches) -> None:
    monitoring = sys.modules["jax._src.monitoring"]
    monitoring.register_event_duration_secs_listener(_heard)
    patches.on_undo(lambda: _forget(monitoring))


def _forget(monitoring: Any) -> None:
    """The script may have cleared the listeners."""
    if _heard in monitoring.get_event_duration_listeners():
        remove = getattr(monitoring, "unregister_event_duration_listener", None)
        (remove or monitoring._unregister_event_duration_listener_by_callback)(_heard)


def _heard(event: str, duration_s: float, **about: Any) -> None:
    what = _EVENTS.get(event)
    if what is None or naming.name_id is None:
        return
    now = _core.ticks()
    start = now - int(duration_s * 1e9 * _core.ticks_per_ns())
    if on_compiled is not None:
        on_compiled()
    if here.is_running:
        start = max(start, here.began)
        here.first = min(here.first or start, start)
        here.last = now
    elif duration_s >= _SHORTEST_S:
        function = about.get("fun_name")
        add_span(f"{what} {function}" if function else what, start, now)


def add_span(name: str, start_ticks: int, end_ticks: int) -> None:
    if naming.name_id is not None:
        _core.past_span(naming.name_id(name), SpanCategory.COMPILE, start_ticks, end_ticks)
