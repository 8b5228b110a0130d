"""Keras 3, on any backend, and tf_keras.

Steps: the batches of `fit` and of `train_on_batch`. Phases: forward and optimizer of what runs
eagerly, input, evaluation, checkpoints, logging; callbacks and epochs as actions. No windows of its
own: the backend has them.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {"keras": ("hooks", "losses"), "tf_keras": ("hooks", "losses")}
