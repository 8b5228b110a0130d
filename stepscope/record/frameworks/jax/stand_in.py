"""A function that JAX made, with its calls watched; otherwise identical to that function.

What `jax.jit` makes runs in C, where no hook can be set, so the user gets our object. It has
the function's class, attributes, signature, pickle and behaviour as a method, and no frame of it
stays in what is raised or in the stacks that JAX keeps for its messages.
"""

import os
import sys
from collections.abc import Callable
from operator import attrgetter
from types import MethodType
from typing import Any, Final

from stepscope.record.frameworks.watching.patches import Patches

_FRAMEWORKS: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _Kind(type):
    """Code that compares types with that of a stand-in means the function's type."""

    _stepscope_types: tuple[type, ...] = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or isinstance(instance, cls._stepscope_types)


class StandIn(metaclass=_Kind):
    """A subclass defines what happens in a call. `state` is what it needs for that."""

    __slots__ = ("__weakref__", "_stepscope_function", "_stepscope_state")

    def __init__(self, function: Any, state: Any) -> None:
        object.__setattr__(self, "_stepscope_function", function)
        object.__setattr__(self, "_stepscope_state", state)
        kind = type(self)
        if type(function) not in kind._stepscope_types:
            kind._stepscope_types = (*kind._stepscope_types, type(function))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stepscope_function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._stepscope_function, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._stepscope_function, name)

    def __get__(self, instance: Any, _owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)  # type: ignore[arg-type]

    def __dir__(self) -> list[str]:
        return dir(self._stepscope_function)

    def __repr__(self) -> str:
        return repr(self._stepscope_function)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """The process that unpickles it may not be recorded."""
        return self._stepscope_function.__reduce_ex__(protocol)

    @property  # type: ignore[misc]  # it is never set
    def __class__(self) -> Any:
        return type(self._stepscope_function)

    def __init_subclass__(cls) -> None:
        """Python gives every class these two, and they would be found first."""
        for name in ("__doc__", "__module__"):
            setattr(cls, name, property(attrgetter(f"_stepscope_function.{name}")))


def _never() -> bool:
    return False


# Whether Python runs for real, and is not traced into a computation. Set when JAX is loaded.
runs_for_real: Callable[[], bool] = _never


def install(_jax: Any, patches: Patches) -> None:
    global runs_for_real
    runs_for_real = sys.modules["jax._src.core"].trace_state_clean
    for name in ("traceback_util", "source_info_util"):
        _stay_out_of_stacks(sys.modules[f"jax._src.{name}"], patches)


def _stay_out_of_stacks(module: Any, patches: Patches) -> None:
    """JAX leaves excluded files out of its messages, and of what its compiler sees. In C it keeps
    their names for good: we exclude only our own."""
    module.register_exclusion(_FRAMEWORKS)
    paths = getattr(module, "_exclude_paths", [])
    pattern = getattr(module, "_exclude_path_regex", None)

    def remove() -> None:
        if _FRAMEWORKS in paths:
            paths.remove(_FRAMEWORKS)
        if pattern is not None:
            pattern.cache_clear()

    patches.on_undo(remove)
