"""Lightning, under both of its names.

Steps: its training batches. Phases: evaluation, checkpoints, logging, and input that is not a
torch loader; the actions that its profilers get. Notes: how a training ended. No windows of its
own: torch has them.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "lightning.pytorch": ("hooks",),
    "pytorch_lightning": ("hooks",),
}
