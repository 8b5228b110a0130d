"""Loggers and experiment trackers: what the script writes to them, as the phase `logging`."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "torch": ("logging_calls",),
    "tensorflow": ("logging_calls",),
    "torch.utils.tensorboard.writer": ("logging_calls",),
    "wandb": ("logging_calls",),
    "mlflow": ("logging_calls",),
}
