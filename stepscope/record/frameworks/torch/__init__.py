"""PyTorch.

Phases: forward, backward, optimizer, input and its stages, communication, compilation, checkpoints;
`record_function` and nvtx ranges as regions. Steps: the first optimizer that steps twice. Windows:
operators under torch's profiler. Notes: workers that died, and what could not be watched.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "torch": ("passes", "distributed", "saving", "ranges", "operators", "losses"),
    "torch.utils.data.dataloader": ("loader",),
    "torchdata.stateful_dataloader.stateful_dataloader": ("loader",),
    "torch._dynamo.callback": ("compilation", "operators"),
    "safetensors.torch": ("saving",),
}
