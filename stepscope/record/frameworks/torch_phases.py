"""PyTorch: forward, backward, optimizer, and with them the steps."""

import functools
import itertools
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final

from stepscope.native import _core
from stepscope.record import marks, pace
from stepscope.record.frameworks import graphs, torch_hooks
from stepscope.record.frameworks import patches as patching
from stepscope.record.frameworks.patches import Patches, leave_out_this_frame
from stepscope.store.format import ForwardFlag, SpanCategory

# Parts of the optimizer's work that are functions of their own.
_WITH_OPTIMIZER: Final = ("clip_grad_norm_", "clip_grad_value_")
# Looked up in every step: an attribute of an enumeration takes longer than the span itself.
_FORWARD: Final = int(SpanCategory.FORWARD)
_OPTIMIZER: Final = int(SpanCategory.OPTIMIZER)
_NO_GRAD: Final = int(ForwardFlag.NO_GRAD)
_EVALUATING: Final = int(ForwardFlag.EVALUATING)


def install(torch: Any, patches: Patches) -> None:
    graphs.install(torch)
    for called in (marks.name_id, marks.samples_in):
        if called is not None:
            graphs.are_not_for(called)
    _watch_forward(torch, patches)
    patches.phase_of_each_step(torch.autograd, "backward", SpanCategory.BACKWARD, "backward")
    patches.phase(torch.autograd, "grad", SpanCategory.BACKWARD, "grad")
    _watch_optimizers(torch, patches)
    for name in _WITH_OPTIMIZER:
        _everywhere(torch, patches, name)


def _everywhere(torch: Any, patches: Patches, name: str) -> None:
    """The function's own module and the package that offers it: both must name one thing."""
    function = getattr(torch.nn.utils, name, None)
    if function is None:
        return
    timed = patching.timed(function, SpanCategory.OPTIMIZER, name)
    for owner in (torch.nn.utils, torch.nn.utils.clip_grad):
        if vars(owner).get(name) is function:
            patches.set(owner, name, timed)


# --- forward --------------------------------------------------------------------------------------


def _watch_forward(torch: Any, patches: Patches) -> None:
    """The outermost module's call."""
    call = torch.nn.Module.__call__
    is_grad_enabled = torch.is_grad_enabled
    names: dict[type, int] = {}  # asked for in every step

    @graphs.are_not_for
    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
        if marks.name_id is None:
            return 0
        module = args[0]
        if pace.on_forward is not None:
            pace.on_forward(module)
        flags = 0 if is_grad_enabled() else _NO_GRAD
        if not getattr(module, "training", True):  # torch itself says it better where it is missing
            flags |= _EVALUATING
        samples = marks.samples_in(args[1:] or kwargs) or 0
        kind = type(module)
        name = names.get(kind) or names.setdefault(kind, marks.name_id(kind.__name__))
        return _core.span_begin(name, _FORWARD, samples, flags)

    native = _core.Timed(call, begin=begin, outermost=True)
    patches.set_native(torch.nn.Module, "__call__", native, _readable(torch, call, begin))


def _readable(torch: Any, call: Any, begin: Callable[..., int]) -> Any:
    """Dynamo reads through this function: the question whether it does comes first, and its graphs
    stay as they were."""
    is_compiling = torch.compiler.is_dynamo_compiling

    @functools.wraps(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return call(self, *args, **kwargs)
        is_outermost = _core.outermost_begins()
        span = 0
        try:
            if is_outermost:
                span = begin((self, *args), kwargs)
            return call(self, *args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            if is_outermost:
                _core.outermost_ends()
                _core.span_end(span)

    return __call__


# --- optimizers -----------------------------------------------------------------------------------


def _watch_optimizers(torch: Any, patches: Patches) -> None:
    from_torch = sys.modules["torch.optim.optimizer"]  # torch.optim hides the name
    steps = _OptimizerSteps()
    before = from_torch.register_optimizer_step_pre_hook(steps.begins)
    patches.on_undo(lambda: torch_hooks.take_out(before))
    after = from_torch.register_optimizer_step_post_hook(steps.ends)
    patches.on_undo(lambda: torch_hooks.take_out(after))
    patches.phase_of_each_step(
        from_torch.Optimizer, "zero_grad", SpanCategory.OPTIMIZER, "zero_grad"
    )
    scaler = getattr(getattr(torch.amp, "grad_scaler", None), "GradScaler", None)
    if scaler is not None:
        _watch_scaler(scaler, steps, patches)


class _OptimizerSteps:
    """Numbers the optimizers by their first step: analysis tells a GAN's two apart by that."""

    def __init__(self) -> None:
        # By id: one that compares by value may not be hashable.
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._next = itertools.count(1)
        self._open: dict[Any, tuple[int, int]] = {}  # span and number
        self.scaled: Any = None  # the optimizer whose step a GradScaler decides upon

    def _number(self, optimizer: Any) -> int:
        key = id(optimizer)
        known = self._known.get(key)
        if known is not None:
            return known[1]
        number = next(self._next)
        self._known[key] = weakref.ref(optimizer, lambda _: self._known.pop(key, None)), number
        return number

    @graphs.are_not_for
    def begins(self, optimizer: Any, _args: Any = None, _kwargs: Any = None) -> None:
        if graphs.is_compiling() or marks.name_id is None or self.scaled is optimizer:
            return
        key = id(optimizer), threading.get_ident()
        if key in self._open:  # that step raised
            _core.span_drop(self._open.pop(key)[0])
        name = marks.name_id(type(optimizer).__name__)
        number = self._number(optimizer)
        self._open[key] = _core.range_span(name, _OPTIMIZER, number), number

    @graphs.are_not_for
    def ends(self, optimizer: Any, _args: Any = None, _kwargs: Any = None) -> None:
        if graphs.is_compiling() or self.scaled is optimizer:
            return
        if pace.on_optimizer is not None:
            pace.on_optimizer(optimizer)
        span, number = self._open.pop((id(optimizer), threading.get_ident()), (0, 0))
        if span:
            _core.span_end(span)
            pace.optimizer_stepped(number)


def _watch_scaler(scaler: Any, steps: _OptimizerSteps, patches: Patches) -> None:
    """A GradScaler may skip the optimizer's step: that was a training step all the same."""
    step = scaler.step

    @functools.wraps(step)
    def scaled_step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if graphs.is_compiling() or marks.name_id is None or steps.scaled is not None:
            return step(self, optimizer, *args, **kwargs)
        steps.begins(optimizer)
        steps.scaled = optimizer
        try:
            return step(self, optimizer, *args, **kwargs)
        except BaseException as error:
            leave_out_this_frame(error)
            raise
        finally:
            steps.scaled = None
            steps.ends(optimizer)

    patches.set(scaler, "step", scaled_step)
    patches.phase(scaler, "unscale_", SpanCategory.OPTIMIZER, "unscale_")
    patches.phase(scaler, "update", SpanCategory.OPTIMIZER, "update")
