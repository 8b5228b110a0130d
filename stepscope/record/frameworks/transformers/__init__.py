"""Hugging Face's Trainer.

Steps: its own. Phases: evaluation, checkpoints, logging. No windows of its own: torch has them.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "transformers.trainer": ("hooks",),
    "transformers.trainer_callback": ("hooks",),
}
