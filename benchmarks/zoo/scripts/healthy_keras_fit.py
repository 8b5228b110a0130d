"""Keras as its guide shows it: compile and fit, with data in memory."""

import argparse

import keras
import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "tensorflow"}


class Clock(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 6400)
    images = rng.random((6400, 28, 28, 1), dtype=np.float32)
    images[np.arange(6400), labels * 2 + 4] += 0.6
    model = keras.Sequential(
        [
            keras.layers.Conv2D(24, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(48, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(images, labels, batch_size=128, epochs=2, verbose=2, callbacks=[Clock()])


if __name__ == "__main__":
    main()
