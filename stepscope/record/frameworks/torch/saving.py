"""PyTorch: checkpoints."""

import sys
from typing import Any

from stepscope.record.frameworks.watching.patches import Patches, timed
from stepscope.store.format import SpanCategory


def install(module: Any, patches: Patches) -> None:
    """`torch.save` and what safetensors offers instead."""
    if module.__name__ == "torch":
        _replace(patches, (module, module.serialization), "save")
        return
    for name in ("save_file", "save_model", "save"):
        _replace(patches, (module, sys.modules.get("safetensors")), name)


def _replace(patches: Patches, owners: tuple[Any, ...], name: str) -> None:
    """In every place that offers the function: a pickle by name must find the same thing."""
    function = vars(owners[0]).get(name)
    if function is None:
        return
    saving = timed(function, SpanCategory.CHECKPOINT, f"{owners[0].__name__}.{name}")
    for owner in owners:
        if owner is not None and vars(owner).get(name) is function:
            patches.set(owner, name, saving)
