"""TensorFlow and Horovod: graphs, eager passes, datasets, collectives, saving and operators."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "tensorflow": ("hooks", "operators"),
    "horovod.tensorflow": ("horovod",),
}
