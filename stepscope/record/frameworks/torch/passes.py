"""PyTorch: forward, backward, optimizer, and with them the steps."""

import functools
import itertools
import sys
import weakref
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.torch import hook_lists
from stepscope.record.frameworks.watching import compiled_graphs
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.timed_calls import leave_out_this_frame
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import SpanCategory

# Parts of the optimizer's work that are separate functions.
_WITH_OPTIMIZER: Final = ("clip_grad_norm_", "clip_grad_value_")


def install(torch: Any, patches: Patches) -> None:
    compiled_graphs.install(torch)
    for called in (naming.name_id, step_counter.optimizer_stepped):
        if called is not None:
            compiled_graphs.are_not_for(called)
    _watch_forward(torch, patches)
    patches.phase_of_each_step(torch.autograd, "backward", SpanCategory.BACKWARD, "backward")
    patches.phase(torch.autograd, "grad", SpanCategory.BACKWARD, "grad")
    _watch_optimizers(torch, patches)
    for name in _WITH_OPTIMIZER:
        places = (torch.nn.utils, torch.nn.utils.clip_grad)
        patches.phase_everywhere(places, name, SpanCategory.OPTIMIZER, name)


# --- forward --------------------------------------------------------------------------------------


class _Names(dict[type, int]):
    """Ids of the names of classes; 0 after the recording."""

    @compiled_graphs.are_not_for
    def __missing__(self, kind: type) -> int:
        if naming.name_id is not None:
            self[kind] = naming.name_id(kind.__name__)
        return self.get(kind, 0)


def _watch_forward(torch: Any, patches: Patches) -> None:
    """The outermost module's call."""
    call = torch.nn.Module.__call__
    native = _core.Forward(call, SpanCategory.FORWARD, torch.is_grad_enabled, _Names())
    patches.set_native(torch.nn.Module, "__call__", native, _readable(torch, call, native))


def _readable(torch: Any, call: Any, native: _core.Forward) -> Any:
    """Dynamo reads through this function: it first checks for that, so that graphs stay as they
    were. Not `watched`: every layer is a module, and its call would make another frame."""
    is_compiling = torch.compiler.is_dynamo_compiling

    @functools.wraps(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return call(self, *args, **kwargs)
        span = _core.forward_begins(native, self, *args, **kwargs)
        try:
            return call(self, *args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            _core.forward_ends(span)

    return __call__


# --- optimizers -----------------------------------------------------------------------------------


def _watch_optimizers(torch: Any, patches: Patches) -> None:
    from_torch = sys.modules["torch.optim.optimizer"]  # torch.optim hides the name
    optimizers = _Optimizers()
    _core.optimizers_start(
        SpanCategory.OPTIMIZER, optimizers.numbers, optimizers.add, step_counter.optimizer_stepped
    )
    patches.on_undo(_core.optimizers_stop)
    _hook(from_torch.register_optimizer_step_pre_hook, _core.optimizer_begins, patches)
    _hook(from_torch.register_optimizer_step_post_hook, _core.optimizer_ends, patches)
    patches.phase_of_each_step(
        from_torch.Optimizer, "zero_grad", SpanCategory.OPTIMIZER, "zero_grad"
    )
    scaler = getattr(getattr(torch.amp, "grad_scaler", None), "GradScaler", None)
    if scaler is not None:
        _watch_scaler(scaler, patches)


def _hook(register: Callable[..., Any], native: Callable[..., None], patches: Patches) -> None:
    """One pair for all optimizers; Dynamo reads the hooks of a compiled optimizer."""

    def readable(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if not compiled_graphs.is_compiling():
            native(optimizer)

    compiled_graphs.are_not_for(readable)
    handle = register(native)
    patches.before_compiling(lambda: hook_lists.replace(handle, readable))
    patches.on_undo(lambda: hook_lists.take_out(handle))


class _Optimizers:
    """Numbers them by their first step: analysis tells a GAN's two apart by these."""

    def __init__(self) -> None:
        # By id: an optimizer that compares by value may not be hashable.
        self.numbers: dict[int, int] = {}
        self._alive: dict[int, weakref.ref[Any]] = {}
        self._next = itertools.count(1)

    @compiled_graphs.are_not_for
    def add(self, optimizer: Any) -> tuple[int, int]:
        """Its number, and the id of its name."""
        key = id(optimizer)
        self._alive[key] = weakref.ref(optimizer, lambda _: self._forget(key))
        number = self.numbers[key] = next(self._next)
        return number, naming.name_id(type(optimizer).__name__) if naming.name_id is not None else 0

    def _forget(self, key: int) -> None:
        del self.numbers[key], self._alive[key]


def _watch_scaler(scaler: Any, patches: Patches) -> None:
    """A GradScaler may skip the optimizer's step: it still counts as a training step."""
    scaled: Any = None  # the optimizer that may step

    def begins(_scaler: Any, optimizer: Any, *_args: Any, **_kwargs: Any) -> Any:
        nonlocal scaled
        if naming.name_id is None or scaled is not None:
            return None
        _core.optimizer_begins(optimizer)
        scaled = optimizer
        _core.optimizer_in_charge(optimizer)
        return optimizer

    def ended(optimizer: Any, _result: Any) -> None:
        nonlocal scaled
        scaled = None
        _core.optimizer_in_charge(None)
        _core.optimizer_ends(optimizer)

    patches.watch(scaler, "step", begins, ended)
    patches.phase(scaler, "unscale_", SpanCategory.OPTIMIZER, "unscale_")
    patches.phase(scaler, "update", SpanCategory.OPTIMIZER, "update")
