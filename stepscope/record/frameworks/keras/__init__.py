"""Keras 3 and tf_keras: the batches of `fit` as steps, callbacks, and passes run eagerly."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {"keras": ("hooks",), "tf_keras": ("hooks",)}
