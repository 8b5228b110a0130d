"""TensorFlow: checkpoints, and TensorBoard summaries."""

import sys
from typing import Any, Final

from stepscope.record.frameworks.watching import current_work
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
    is_eager = current_work.is_eager
    for module, kind, methods in _CHECKPOINTS:
        owner = getattr(python(module), kind, None)
        for name in methods if owner is not None else ():
            label = f"{kind}.{name}"
            patches.phase(owner, name, SpanCategory.CHECKPOINT, label, is_eager)
    save = python("saved_model.save")
    offered = (save, sys.modules.get("tensorflow._api.v2.saved_model"))
    patches.phase_everywhere(offered, "save", SpanCategory.CHECKPOINT, "saved_model.save", is_eager)
    writer = getattr(python("ops.summary_ops_v2"), "_ResourceSummaryWriter", None)
    if writer is not None:
        patches.phase(writer, "flush", SpanCategory.LOGGING, "summary.flush", is_eager)
    summary = sys.modules.get("tensorflow._api.v2.summary")
    for name in _SUMMARIES if summary is not None else ():
        home = sys.modules.get(getattr(vars(summary).get(name), "__module__", ""))
        label = f"summary.{name}"
        patches.phase_everywhere((summary, home), name, SpanCategory.LOGGING, label, is_eager)
