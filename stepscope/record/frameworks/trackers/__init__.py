"""Loggers and experiment trackers.

Phases: what the script prints, logs, and writes to TensorBoard, wandb and mlflow is `logging`.
No steps or windows.
"""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "torch": ("logging_calls",),
    "tensorflow": ("logging_calls",),
    "torch.utils.tensorboard.writer": ("logging_calls",),
    "wandb": ("logging_calls",),
    "mlflow": ("logging_calls",),
}
