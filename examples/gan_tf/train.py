"""Train a small GAN on the digits, in TensorFlow.

It learns, and it is slow. Find out why:  stepscope run examples/gan_tf/train.py
"""

import argparse
import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from keras import layers

DATA = Path(__file__).parent.parent / "data" / "digits.npz"
NOISE = 64


def get_dataset(path):
    """All pictures."""
    with np.load(path) as data:
        images = data["images"]
    return images


def get_batch(path, size, rng):
    images = get_dataset(path)
    chosen = images[rng.integers(0, len(images), size=size)]
    return tf.constant(chosen[..., None].astype(np.float32) / 127.5 - 1)


def make_generator(width):
    return keras.Sequential(
        [
            layers.Input((NOISE,)),
            layers.Dense(2 * width * 49),
            layers.Reshape((7, 7, 2 * width)),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(width, 4, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
        ]
    )


def make_discriminator(width):
    return keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(width, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(2 * width, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


class Gan:
    """Both networks and their optimizers."""

    def __init__(self, width, rate):
        self.generator, self.discriminator = make_generator(width), make_discriminator(width)
        self.optimizer_g = keras.optimizers.Adam(rate, beta_1=0.5)
        self.optimizer_d = keras.optimizers.Adam(rate, beta_1=0.5)

    def forward(self, path, size, rng):
        """What the discriminator makes of real pictures and of the generator's."""
        real = get_batch(path, size, rng)
        fake = self.generator(tf.random.normal((size, NOISE)), training=True)
        return self.discriminator(real), self.discriminator(fake)

    def train_step(self, path, size, rng):
        with tf.GradientTape(persistent=True) as tape:
            on_real, on_fake = self.forward(path, size, rng)
            loss_d = tf.reduce_mean(tf.nn.softplus(-on_real) + tf.nn.softplus(on_fake))
            loss_g = tf.reduce_mean(tf.nn.softplus(-on_fake))
        update(self.optimizer_d, tape, loss_d, self.discriminator)
        update(self.optimizer_g, tape, loss_g, self.generator)
        return float(loss_d), float(loss_g)


def update(optimizer, tape, loss, model):
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))


def train(arguments):
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    gan = Gan(arguments.width, arguments.rate)
    for step in range(arguments.steps):
        began = time.perf_counter()
        loss_d, loss_g = gan.train_step(arguments.data, arguments.batch, rng)
        step_time = time.perf_counter() - began
        if step % 10 == 0 or step == arguments.steps - 1:
            print(
                f"step {step:3d}  discriminator {loss_d:.3f}  generator {loss_g:.3f}"
                f"  step_time {1e3 * step_time:.1f} ms"
                f"  throughput {arguments.batch / step_time:,.0f} img/s"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-4)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
