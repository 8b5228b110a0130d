"""TensorFlow: checkpoints, and what is written for TensorBoard."""

import sys
from typing import Any, Final

from stepscope.record.frameworks.tensorflow import eager
from stepscope.record.frameworks.watching.patches import Patches
from stepscope.store.format import SpanCategory

_CHECKPOINTS: Final = (
    ("checkpoint.checkpoint", "Checkpoint", ("save", "write")),
    ("checkpoint.checkpoint", "CheckpointV1", ("save", "write")),
    ("checkpoint.checkpoint_management", "CheckpointManager", ("save",)),
)
_SUMMARIES: Final = (
    "audio", "flush", "graph", "histogram", "image", "scalar", "text", "trace_export", "write",
)  # fmt: skip


def install(python: Any, patches: Patches) -> None:
    for module, kind, methods in _CHECKPOINTS:
        owner = getattr(python(module), kind, None)
        for name in methods if owner is not None else ():
            label = f"{kind}.{name}"
            eager.phase(patches, owner, name, SpanCategory.CHECKPOINT, label)
    save = python("saved_model.save")
    offered = (save, sys.modules.get("tensorflow._api.v2.saved_model"))
    _replace(patches, offered, "save", SpanCategory.CHECKPOINT, "saved_model.save")
    writer = getattr(python("ops.summary_ops_v2"), "_ResourceSummaryWriter", None)
    if writer is not None:
        eager.phase(patches, writer, "flush", SpanCategory.LOGGING, "summary.flush")
    summary = sys.modules.get("tensorflow._api.v2.summary")
    for name in _SUMMARIES if summary is not None else ():
        home = sys.modules.get(getattr(vars(summary).get(name), "__module__", ""))
        _replace(patches, (summary, home), name, SpanCategory.LOGGING, f"summary.{name}")


def _replace(
    patches: Patches, owners: tuple[Any, ...], name: str, category: SpanCategory, label: str
) -> None:
    """In every place that offers the function."""
    function = vars(owners[0]).get(name)
    if not callable(function):
        return
    timed = eager.timed(function, category, label)
    for owner in owners:
        if owner is not None and vars(owner).get(name) is function:
            patches.set(owner, name, timed)
