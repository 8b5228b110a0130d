"""A Keras model that is evaluated on much data, but only once, in the middle."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "tensorflow"}


class Halfway(keras.callbacks.Callback):
    """Evaluates after so many batches."""

    def __init__(self, after, data):
        super().__init__()
        self.after, self.data = after, data

    def on_train_batch_end(self, batch, logs=None):
        if batch + 1 == self.after:
            loss = self.model.evaluate(*self.data, batch_size=512, verbose=0)
            print(f"halfway: {loss:.3f}")
        tick()


class Wide(keras.Model):
    """Two towers for queries and answers."""

    def __init__(self):
        super().__init__()
        self.towers = [
            keras.Sequential([keras.layers.Dense(768, activation="relu"), keras.layers.Dense(64)])
            for _ in range(2)
        ]

    def call(self, pair):
        query, answer = (tower(pair[:, i]) for i, tower in enumerate(self.towers))
        return keras.ops.sum(query * answer, axis=1) / 8


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    keras.utils.set_random_seed(23)
    rng = np.random.default_rng(23)
    pairs = rng.normal(size=(256 * 240, 2, 48)).astype("f4")
    match = np.sign((pairs[:, 0] * pairs[:, 1]).sum(axis=1)).astype("f4")
    model = Wide()
    model.compile(keras.optimizers.SGD(0.05), "mse")
    halfway = Halfway(120, (pairs[:6144], match[:6144]))
    story = model.fit(pairs, match, batch_size=256, verbose=0, callbacks=[halfway])
    print(f"loss {story.history['loss'][-1]:.3f}")


if __name__ == "__main__":
    main()
