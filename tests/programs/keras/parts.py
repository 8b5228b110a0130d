"""Small pieces that the Keras programs share. Which package is meant: the variable KERAS_PACKAGE."""

import importlib
import os

import numpy

keras = importlib.import_module(os.environ.get("KERAS_PACKAGE", "keras"))
BATCH = 32


class Losses(keras.callbacks.Callback):
    """Keeps the loss of each epoch."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_epoch_end(self, epoch, logs=None):
        self.losses += [logs[name] for name in sorted(logs)]


def seeded():
    keras.utils.set_random_seed(0)


def classifier(**options):
    model = keras.Sequential(
        [
            keras.layers.Input((64,)),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=keras.optimizers.Adam(), loss=loss, **options)
    return model


def arrays(samples):
    numbers = numpy.random.default_rng(0)
    return numbers.normal(size=(samples, 64)).astype("float32"), numbers.integers(0, 10, samples)


def tell(losses):
    for loss in losses:
        print(float(loss).hex())
