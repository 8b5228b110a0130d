"""PyTorch: checkpoints."""

import sys
from typing import Any

from stepscope.record.frameworks.watching.patches import Patches
from stepscope.store.format import SpanCategory


def install(module: Any, patches: Patches) -> None:
    """`torch.save` and what safetensors offers instead."""
    is_torch = module.__name__ == "torch"
    other = module.serialization if is_torch else sys.modules.get("safetensors")
    for name in ("save",) if is_torch else ("save_file", "save_model", "save"):
        label = f"{module.__name__}.{name}"
        patches.phase_everywhere((module, other), name, SpanCategory.CHECKPOINT, label)
