"""Keras 3 and tf_keras: what is watched in them, and what is not when they are too old."""

from collections.abc import Callable
from typing import Any, Final

from stepscope.record.frameworks.keras import batches, callbacks, passes
from stepscope.record.frameworks.keras.package import Package
from stepscope.record.frameworks.watching import current_work, notes
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.signal_handlers import let_pass
from stepscope.store.format import SpanCategory

_EVALUATING: Final = ("evaluate", "predict", "test_on_batch", "predict_on_batch")
_SAVING: Final = ("save", "save_weights", "export")


def install(keras: Any, patches: Patches) -> None:
    """`keras`: keras or tf_keras."""
    package = Package(keras)
    if package.is_too_old:
        notes.note(
            f"Keras {package.version} is too old to be watched (Keras 3 or tf_keras is needed): "
            "its steps are found by their loop, and they have no phases."
        )
        return
    parts: tuple[Callable[[Package, Patches], object], ...] = (
        batches.install, callbacks.install, passes.install, _watch_phases,
    )  # fmt: skip
    for part in parts:
        try:
            part(package, patches)
        except Exception as error:  # if a version lacks something, only this watcher is skipped
            let_pass(error)
            notes.note(f"Keras {package.version} is not watched completely: {error!r}.")


def _watch_phases(package: Package, patches: Patches) -> None:
    trainer, model, is_eager = package.trainer, package.model, current_work.is_eager
    for name in _EVALUATING:
        patches.phase(trainer, name, SpanCategory.EVALUATION, name, is_eager)
    for name in _SAVING:
        owner = next((kind for kind in model.__mro__ if name in vars(kind)), None)
        if owner is not None:
            patches.phase(owner, name, SpanCategory.CHECKPOINT, f"Model.{name}", is_eager)
