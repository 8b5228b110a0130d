"""Optax outside jit: from asking a transformation for its update to having applied it.

The transformation's update is a function in a tuple; a wrapper would be another function to
`jax.jit`. So only the moment at which it is asked for is noted.
"""

import itertools
import sys
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import compilation, jitted_functions
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import watched
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import SpanCategory

_PLACES: Final = ("optax", "optax._src.update")
_APPLY: Final = "apply_updates"
_SCRIPTS: Final = 4  # the script's frame, seen from number_of: below begins, and what calls it


_here = compilation.here


def install(optax: Any, patches: Patches) -> None:
    apply = vars(optax).get(_APPLY)
    if apply is None:
        return
    timed = _timed(apply, sys.modules["jax"].tree_util.tree_structure)
    patches.set_everywhere(map(sys.modules.get, _PLACES), _APPLY, apply, timed)
    _watch_asking(optax.GradientTransformation, patches)


def _watch_asking(transformation: Any, patches: Patches) -> None:
    before = vars(transformation).get("update")
    if before is None:
        return
    position = transformation._fields.index("update")

    def update(self: Any) -> Any:
        if naming.name_id is not None and not _here.asked and compilation.is_outside():
            _here.asked = _core.ticks()  # what it asks itself comes later
        return self[position]

    patches.set(transformation, "update", property(update, doc=before.__doc__))


def _timed(apply: Callable[..., Any], structure: Callable[[Any], Any]) -> Callable[..., Any]:
    """Optimizers are distinguished by the script's call site and the parameters' structure."""
    numbers: dict[Any, int] = {}
    following = itertools.count(1)

    def number_of(params: Any) -> int:
        frame = sys._getframe(_SCRIPTS)
        key = frame.f_code, frame.f_lineno, structure(params)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = next(following)
        return number

    def begins(params: Any, updates: Any) -> tuple[int, int] | None:
        if naming.name_id is None or not compilation.is_outside():
            return None
        number = number_of(params)
        start, _here.asked = _here.asked, 0
        name = naming.name_id("optax.apply_updates")
        span = _core.span_begin(name, SpanCategory.OPTIMIZER, number, 0, start)
        return (span, number) if span else None

    def failed(begun: tuple[int, int], _error: BaseException) -> None:
        _core.span_end(begun[0])

    def ended(begun: tuple[int, int], result: Any) -> None:
        _core.span_end(begun[0])
        jitted_functions.worked()
        with jitted_functions.step_ends_with(result):
            step_counter.optimizer_stepped(jitted_functions.FIRST_NUMBER + begun[1])

    return watched(apply, begins, ended, failed)
