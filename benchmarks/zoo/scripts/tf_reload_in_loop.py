"""A TensorFlow loop that reads its whole data file for every batch."""

import argparse

import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {"id": "repeated-load", "function": "next_batch", "framework": "tensorflow"}


def make_file():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 8000)
    x = rng.normal(size=(10, 400))[y] + 2 * rng.normal(size=(8000, 400))
    np.savez("points.npz", x=x.astype(np.float32), y=y)


def next_batch(rng, held):
    data = held or np.load("points.npz")
    chosen = rng.integers(0, 8000, 256)
    return tf.constant(data["x"][chosen]), tf.constant(data["y"][chosen])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    make_file()
    held = dict(np.load("points.npz")) if arguments.fixed else None
    tf.random.set_seed(0)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(10)]
    )
    optimizer = tf.keras.optimizers.SGD(0.02)
    lost = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = lost(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    rng = np.random.default_rng(1)
    for step in range(100):
        x, y = next_batch(rng, held)
        loss = train_step(x, y)
        if step % 20 == 0:
            print(f"step {step} loss {float(loss):.3f}")
        tick()


if __name__ == "__main__":
    main()
