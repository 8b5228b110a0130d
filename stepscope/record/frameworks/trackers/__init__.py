"""Loggers and experiment trackers.

Phases: what the script prints, logs, and writes to TensorBoard, wandb and mlflow is `logging`.
No steps or windows. With `--log`, what was recorded is added to the script's run in a tracker.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "torch": ("logging_calls",),
    "tensorflow": ("logging_calls", "open_runs"),
    "torch.utils.tensorboard.writer": ("logging_calls", "open_runs"),
    "tensorboardX.writer": ("open_runs",),
    "wandb": ("logging_calls", "wandb_runs"),
    "mlflow": ("logging_calls", "open_runs"),
}
