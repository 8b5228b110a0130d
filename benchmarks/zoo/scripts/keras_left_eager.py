"""A subclassed Keras model for tables that still runs eagerly from the last hunt for a bug."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from timing import tick

ZOO = {
    "id": "eager-overhead",
    "function": ["main", "Settings.compile", "Gated.call", "TableNet.call"],
    "framework": "tensorflow",
}


class Gated(keras.layers.Layer):
    """A residual block with a gate."""

    def __init__(self, size):
        super().__init__()
        self.norm = keras.layers.LayerNormalization()
        self.value = keras.layers.Dense(size, activation="silu")
        self.gate = keras.layers.Dense(size, activation="sigmoid")

    def call(self, x):
        z = self.norm(x)
        return x + self.value(z) * self.gate(z)


class TableNet(keras.Model):
    def __init__(self, categories, depth=1):
        super().__init__()
        self.embed = [keras.layers.Embedding(count, 8) for count in categories]
        self.first = keras.layers.Dense(48)
        self.blocks = [Gated(48) for _ in range(depth)]
        self.last = keras.layers.Dense(1)

    def call(self, inputs):
        numbers, names = inputs
        parts = [table(names[:, i]) for i, table in enumerate(self.embed)]
        x = self.first(keras.ops.concatenate([numbers, *parts], axis=1))
        for block in self.blocks:
            x = block(x)
        return self.last(x)


class Settings:
    """How models are compiled in this project."""

    def __init__(self, debug):
        self.debug = debug

    def compile(self, model):
        model.compile("sgd", "mse", run_eagerly=self.debug)
        return model


class Ticker(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    names = rng.integers(0, 12, (64 * 80, 3))
    numbers = rng.normal(size=(64 * 80, 10)).astype("f4")
    prices = (np.tanh(numbers[:, :3].sum(axis=1)) + 0.1 * names[:, 0]).astype("f4")
    model = Settings(debug=not asked.fixed).compile(TableNet([12] * 3))
    story = model.fit((numbers, names), prices, batch_size=64, verbose=0, callbacks=[Ticker()])
    print(f"loss {story.history['loss'][-1]:.3f}")


if __name__ == "__main__":
    main()
