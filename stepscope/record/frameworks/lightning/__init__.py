"""Lightning: its training batches as steps, its actions, evaluation, saving and logging."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "lightning.pytorch": ("hooks",),
    "pytorch_lightning": ("hooks",),
}
