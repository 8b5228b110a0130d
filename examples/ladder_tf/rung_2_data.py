"""Train a classifier of digits, in TensorFlow. Rung 2: the data set is read once.

See the change, in this folder:  diff -u rung_1_eager.py rung_2_data.py
"""

import argparse
import functools
import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras import layers

DATA = Path(__file__).parent.parent / "data" / "digits.npz"


@functools.cache
def get_dataset(path):
    """All pictures, one a row, and their labels."""
    with np.load(path) as data:
        images, labels = data["images"], data["labels"]
    return images.reshape(len(images), -1), labels


def get_batch(path, size, rng):
    images, labels = get_dataset(path)
    chosen = rng.integers(0, len(images), size=size)
    return images[chosen].astype(np.float32) / 255, labels[chosen].astype(np.int32)


def make_model(width, blocks):
    pictures = layers.Input((28 * 28,))
    x = layers.Dense(width)(pictures)
    for _ in range(blocks):
        hidden = layers.LayerNormalization()(x)
        hidden = layers.Dense(2 * width, activation="gelu")(hidden)
        x = layers.Add()([x, layers.Dense(width)(hidden)])
    scores = layers.Dense(10, dtype="float32")(layers.LayerNormalization()(x))
    return keras.Model(pictures, scores)


class Training:
    """The model, its optimizer, and what both of them do with a batch."""

    def __init__(self, width, blocks, rate):
        self.model = make_model(width, blocks)
        self.optimizer = keras.optimizers.Adam(rate)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.optimizer.build(self.model.trainable_variables)

    def train_step(self, pictures, labels):
        with tf.GradientTape() as tape:
            loss = self.loss(labels, self.model(pictures, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss


def train(arguments):
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    training = Training(arguments.width, arguments.blocks, arguments.rate)
    for step in range(arguments.steps):
        began = time.perf_counter()
        pictures, labels = get_batch(arguments.data, arguments.batch, rng)
        loss = float(training.train_step(tf.constant(pictures), tf.constant(labels)))
        step_time = time.perf_counter() - began
        if step % 10 == 0 or step == arguments.steps - 1:
            print(
                f"step {step:3d}  loss {loss:.3f}  step_time {1e3 * step_time:.1f} ms"
                f"  throughput {arguments.batch / step_time:,.0f} img/s"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-3)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
