"""PyTorch: passes, optimizers, loaders, collectives, compilations, checkpoints and operators."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "torch": ("passes", "distributed", "saving", "ranges", "operators"),
    "torch.utils.data.dataloader": ("loader",),
    "torchdata.stateful_dataloader.stateful_dataloader": ("loader",),
    "torch._dynamo.callback": ("compilation", "operators"),
    "safetensors.torch": ("saving",),
}
