"""What the script logs: loggers and trackers, as the phase `logging`."""

import logging
from typing import Any, Final

from stepscope.native import _core
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.record.names import naming
from stepscope.store.format import SpanCategory

# Functions of the module itself.
_FUNCTIONS: Final = {
    "wandb": ("log",),
    "mlflow": ("log_metric", "log_metrics", "log_params", "log_artifact", "log_figure"),
}

# Frameworks whose steps have phases: without one there is no other phase beside logging.
_TRAINING: Final = ("torch", "tensorflow")

_is_watched = False  # what every script has: print and logging


def install(module: Any, patches: Patches) -> None:
    name = module.__name__
    if name in _TRAINING:
        _watch_prints(patches)
        return
    if name == "torch.utils.tensorboard.writer":
        _watch_summary_writer(module.SummaryWriter, patches)
        return
    for function in _FUNCTIONS.get(name, ()):
        patches.phase(module, function, SpanCategory.LOGGING, f"{name}.{function}")


def _watch_prints(patches: Patches) -> None:
    global _is_watched
    if _is_watched:
        return
    _is_watched = True
    patches.on_undo(_forget)
    patches.phase(logging.Handler, "handle", SpanCategory.LOGGING, "logging")
    if naming.name_id is not None:
        _core.prints_start(naming.name_id("print"))
        patches.on_undo(_core.prints_stop)


def _forget() -> None:
    global _is_watched
    _is_watched = False


def _watch_summary_writer(writer: Any, patches: Patches) -> None:
    for name in [name for name in vars(writer) if name.startswith("add_") or name == "flush"]:
        patches.phase(writer, name, SpanCategory.LOGGING, f"SummaryWriter.{name}")
