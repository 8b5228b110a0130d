"""JAX: where the host waits for an array, and where it hands one to a device.

A jitted function returns before its results are there. Most ways to an array's value pass through
one property of the array, which is recorded only if the value is not on the host yet. On a CPU,
NumPy reads the array's memory directly: np.asarray is not seen there.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.jax import compilation
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame, timed
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

_FUNCTIONS: Final = {
    "block_until_ready": SpanCategory.SYNC,
    "effects_barrier": SpanCategory.SYNC,
    "device_get": SpanCategory.SYNC,
    "device_put": SpanCategory.TRANSFER,
}
_METHODS: Final = ("block_until_ready", "item")
_VALUE: Final = "_value"
# By the method of the array that needs its value, as the script writes it.
_WORDS: Final = {
    "__array__": "np.asarray",
    "__bool__": "bool",
    "__complex__": "complex",
    "__float__": "float",
    "__format__": "format",
    "__index__": "int",
    "__int__": "int",
    "__repr__": "repr",
    "__str__": "str",
}


def install(jax: Any, patches: Patches) -> None:
    for name, category in _FUNCTIONS.items():
        if callable(vars(jax).get(name)):
            function = _timed(vars(jax)[name], category, name)
            function.__module__ = jax.__name__  # where a pickle finds it
            patches.set(jax, name, function)
    array = sys.modules["jax._src.array"].ArrayImpl
    for name in _METHODS:
        if callable(vars(array).get(name)):
            patches.set(array, name, _timed(vars(array)[name], SpanCategory.SYNC, name))
    _watch_value(array, patches)


def _timed(function: Callable[..., Any], category: SpanCategory, label: str) -> Callable[..., Any]:
    return timed(function, category, label, only_if=compilation.is_outside)


def _watch_value(array: Any, patches: Patches) -> None:
    """`_npy_value` is None until the value has been brought to the host. Not `watched`: scripts ask
    for values again and again, mostly when there is nothing to record."""
    before = vars(array).get(_VALUE)
    if not isinstance(before, property) or before.fget is None:
        return
    get = before.fget

    def _value(self: Any) -> Any:
        span = 0
        if self._npy_value is None and naming.name_id is not None and compilation.is_outside():
            asked = sys._getframe(1).f_code.co_name
            span = _core.span_begin(naming.name_id(_WORDS.get(asked, asked)), SpanCategory.SYNC)
        try:
            return get(self)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if span:
                _core.span_end(span)

    patches.set(array, _VALUE, property(functools.wraps(get)(_value), doc=before.__doc__))
