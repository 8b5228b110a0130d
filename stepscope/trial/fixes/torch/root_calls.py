"""The calls of the script's models: the outermost modules with parameters, not their layers.

Several fixes may be installed at a time. Each adds a layer around the call, and the order of the
layers is fixed, whatever the order of installation: a model is cast before autocast sees it, and
what is compiled is the call itself.
"""

import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.patches import Patches

Call = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]  # (module, args, kwargs) -> its result


class Place(IntEnum):
    """Inside out."""

    COMPILED = 0
    INFERENCE = 1
    AUTOCAST = 2
    LAYOUT = 3
    CAST = 4
    SETTING = 5  # only looks at the model


class _Layer(NamedTuple):
    place: Place
    around: Callable[[Call], Call]


class _Here(threading.local):
    is_inside = False  # a call of a module


class _RootCalls:
    """All layers around the calls of modules, in torch's own place for them."""

    def __init__(self, torch: Any) -> None:
        self._plain = torch.nn.Module._call_impl
        self._is_compiling = torch.compiler.is_dynamo_compiling
        self._layers: list[_Layer] = []
        self._call = self._layered()

    def add(self, layer: _Layer) -> None:
        self._layers.append(layer)
        self._call = self._layered()

    def remove(self, layer: _Layer) -> None:
        self._layers.remove(layer)
        self._call = self._layered()

    def _layered(self) -> Call:
        call: Call = lambda module, args, kwargs: self._plain(module, *args, **kwargs)  # noqa: E731
        for layer in sorted(self._layers, key=lambda each: each.place):
            call = layer.around(call)
        return call

    def replacement(self) -> Callable[..., Any]:
        plain, is_compiling, here = self._plain, self._is_compiling, _Here()

        def _call_impl(module: Any, *args: Any, **kwargs: Any) -> Any:
            if is_compiling() or here.is_inside or first_parameter(module) is None:
                return plain(module, *args, **kwargs)
            here.is_inside = True
            try:
                return self._call(module, args, kwargs)
            finally:
                here.is_inside = False

        return _call_impl


_calls: _RootCalls | None = None


def add_layer(torch: Any, patches: Patches, place: Place, around: Callable[[Call], Call]) -> None:
    """`around` gets the call and returns what is done instead of it."""
    calls = _calls or _replace_calls(torch, patches)
    layer = _Layer(place, around)
    calls.add(layer)
    patches.on_undo(lambda: calls.remove(layer))


def first_parameter(module: Any) -> Any:
    return next(module.parameters(), None)


def _replace_calls(torch: Any, patches: Patches) -> _RootCalls:
    """`_call_impl`, not `__call__`, which recording replaces by a function in C."""
    global _calls
    _calls = _RootCalls(torch)
    compiled_graphs.install(torch)
    patches.on_undo(_forget)
    patches.set(torch.nn.Module, "_call_impl", _calls.replacement())
    return _calls


def _forget() -> None:
    global _calls
    _calls = None
