"""JAX: the loss of each step, with --losses.

It is what a jitted function that trains returns beside its state, or the value of `value_and_grad`
outside jit. Arrays do not change, so they are read later.
"""

import sys
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import compilation, gradients, jitted_functions
from stepscope.record.frameworks.jax.jitted_functions import Function
from stepscope.record.frameworks.watching import losses, notes
from stepscope.record.frameworks.watching.patches import Patches

_LABEL: Final = "value_and_grad"
_guarded: Final = notes.guard("A loss was not recorded")


def install(_jax: Any, patches: Patches) -> None:
    losses.when_wanted(lambda: _watch(patches))


def _watch(patches: Patches) -> None:
    losses.read_with(sys.modules["jax._src.array"].ArrayImpl, _read)
    returned = _Returned()
    jitted_functions.on_result = lambda *about: _guarded(returned.add, *about)
    gradients.on_value = lambda result: _guarded(_value, result)
    patches.on_undo(_forget)


def _forget() -> None:
    jitted_functions.on_result = gradients.on_value = None


def _read(array: Any) -> float:
    """As inside a jitted function: the watchers of arrays record no wait there."""
    before, compilation.here.is_running = compilation.here.is_running, True
    try:
        return float(array)
    finally:
        compilation.here.is_running = before


def _value(result: Any) -> None:
    """The result is (loss, gradients) or ((loss, more), gradients)."""
    value = result[0][0] if isinstance(result[0], tuple) else result[0]
    losses.keep(_LABEL, _core.ticks(), value)


class _Returned:
    """What jitted functions returned, until it is known whether they train."""

    def __init__(self) -> None:
        self._open: dict[int, list[tuple[int, Any]]] = {}  # by the function's number

    def add(self, function: Function, began_ticks: int, result: Any) -> None:
        if losses.here.is_reported:
            return
        updates = function.updates
        if not updates.trains and not updates.is_open:
            self._open.pop(function.number, None)
            return
        found = [(began_ticks, value) for value in losses.found_in(result)]
        if not updates.trains:
            self._open.setdefault(function.number, []).extend(found)
            return
        for at_ticks, value in (*self._open.pop(function.number, ()), *found):
            losses.keep(function.name, at_ticks, value)
