"""Hugging Face's Trainer: its steps, and evaluation, saving and logging as phases."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "transformers.trainer": ("hooks",),
    "transformers.trainer_callback": ("hooks",),
}
