"""`model.fit` with steps of about 5 ms; with `--tensorboard FOLDER` under Keras' own callback.

The callback profiles as many steps as stepscope's window has."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from timing import Times

EPOCHS, STEPS, BATCH = 8, 100, 200

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
keras.utils.set_random_seed(0)
images = np.random.default_rng(0).random((STEPS * BATCH, 28, 28, 1), dtype=np.float32)
labels = np.random.default_rng(1).integers(0, 10, STEPS * BATCH)
model = keras.Sequential(
    [
        keras.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(10),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))


class Epochs(keras.callbacks.Callback):
    """The first epoch traces the graph and is left out."""

    def __init__(self):
        super().__init__()
        self.times = Times()

    def on_epoch_begin(self, epoch, logs=None):
        self.times.begin()

    def on_epoch_end(self, epoch, logs=None):
        if epoch > 0:
            self.times.end(of=STEPS)


epochs = Epochs()
callbacks = [epochs]
if sys.argv[1:2] == ["--tensorboard"]:
    window = (STEPS + 5, STEPS + 15)
    callbacks.append(keras.callbacks.TensorBoard(sys.argv[2], profile_batch=window))
model.fit(images, labels, BATCH, EPOCHS, verbose=0, callbacks=callbacks)
epochs.times.write()
