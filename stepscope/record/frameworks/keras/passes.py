"""Keras run operation by operation: the outermost model's call, and its optimizers' steps."""

import itertools
import weakref
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.keras.package import Package
from stepscope.record.frameworks.watching import current_work
from stepscope.record.frameworks.watching.current_work import here
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.frameworks.watching.training_batches import samples_in
from stepscope.record.names import naming
from stepscope.record.steps import step_counter
from stepscope.store.format import ForwardFlag, SpanCategory

_FIRST_NUMBER: Final = 1 << 10  # torch's own optimizers are numbered below
_NO_TAPE: Final = int(ForwardFlag.NO_GRAD)
_EVALUATING: Final = int(ForwardFlag.NO_GRAD | ForwardFlag.EVALUATING)
_STEPS: Final = ("apply_gradients", "apply")
# Modules of tf_keras with optimizer classes.
_LEGACY: Final = (
    "optimizers.optimizer", "optimizers.legacy.optimizer_v2", "mixed_precision.loss_scale_optimizer"
)  # fmt: skip


def install(package: Package, patches: Patches) -> None:
    if package.backend == "tensorflow":
        layer = package.module("engine.base_layer" if package.is_legacy else "layers.layer").Layer
        _watch_models(layer, patches)
    if package.backend in ("tensorflow", "torch"):
        _watch_optimizers(package, patches)


# --- models ---------------------------------------------------------------------------------------


def _watch_models(layer: Any, patches: Patches) -> None:
    """The outermost call. Under a tape it is part of the tape's forward, and gives the samples."""

    def begins(model: Any, /, *args: Any, **kwargs: Any) -> int | None:
        """The span, or 0 without one."""
        if here.in_model or _is_symbolic(args or kwargs):
            return None
        if not current_work.is_eager():
            current_work.found_in_graph(calls_model=True)
            return None
        if naming.name_id is None:
            return None
        current_work.begins()
        here.in_model = True
        if here.tape is not None:
            here.samples = here.samples or samples_in(args or kwargs)
            return 0
        flags = _NO_TAPE if kwargs.get("training") else _EVALUATING
        samples, name = samples_in(args or kwargs), naming.name_id(type(model).__name__)
        return _core.span_begin(name, SpanCategory.FORWARD, samples, flags)

    def ended(span: int, _result: Any) -> None:
        here.in_model = False
        _core.span_end(span)

    patches.watch(layer, "__call__", begins, ended)


def _is_symbolic(given: Any) -> bool:
    """Whether a model is being built: nothing is computed then."""
    while isinstance(given, tuple | list | dict) and given:
        given = next(iter(given.values())) if isinstance(given, dict) else given[0]
    return type(given).__name__ == "KerasTensor"


# --- optimizers -----------------------------------------------------------------------------------


def _watch_optimizers(package: Package, patches: Patches) -> None:
    steps = _Steps()
    for kind in _kinds(package):
        for name in _STEPS:
            if name in vars(kind):
                steps.watch(kind, name, patches)


def _kinds(package: Package) -> list[type]:
    """Classes that have their own step."""
    if not package.is_legacy:
        base = package.module("optimizers.base_optimizer").BaseOptimizer
        return [base, package.module("optimizers.loss_scale_optimizer").LossScaleOptimizer]
    modules = [package.module(name) for name in _LEGACY]
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    ]


class _Steps:
    """Numbers the optimizers by their first step: analysis tells a GAN's two apart by these."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._next = itertools.count(_FIRST_NUMBER)

    def _begins(self, optimizer: Any, /, *_args: Any, **_kwargs: Any) -> tuple[int, int] | None:
        """(span, number) of the outermost of the methods that call each other."""
        if here.in_optimizer:
            return None
        if not current_work.is_eager():
            current_work.found_in_graph(trains=True)
            return None
        if naming.name_id is None:
            return None
        number = self._numbers.get(optimizer)
        if number is None:
            number = self._numbers[optimizer] = next(self._next)
        here.in_optimizer = True
        current_work.worked()
        name = naming.name_id(type(optimizer).__name__)
        return _core.span_begin(name, SpanCategory.OPTIMIZER, number), number

    def watch(self, kind: Any, name: str, patches: Patches) -> None:
        patches.watch(kind, name, self._begins, self._ended, self._failed)

    def _ended(self, step: tuple[int, int], _result: Any) -> None:
        here.in_optimizer = False
        _core.span_end(step[0])
        step_counter.optimizer_stepped(step[1])

    def _failed(self, step: tuple[int, int], _error: BaseException) -> None:
        here.in_optimizer = False
        _core.span_drop(step[0])
