"""Denoising sequence tagger with a hand-written Keras training loop (tf.GradientTape)."""
import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers

from step_clock import StepClock

ZOO = {"id": "eager-overhead", "function": "Experiment.train_step", "framework": "tensorflow"}


def make_sequences(count, length, rng):
    """Noisy square waves; the tag says whether the clean wave is up."""
    period = rng.uniform(4, 12, (count, 1))
    phase = rng.uniform(0, 2 * np.pi, (count, 1))
    t = np.arange(length)[None]
    clean = (np.sin(2 * np.pi * t / period + phase) > 0).astype("float32")
    noisy = clean + rng.normal(0, 0.5, clean.shape).astype("float32")
    return noisy[..., None], clean[..., None]


def build_tagger(width=32, depth=2):
    inputs = keras.Input((32, 1))
    x = layers.Conv1D(width, 5, padding="same", activation="relu")(inputs)
    for _ in range(depth):
        y = layers.LayerNormalization()(x)
        y = layers.Conv1D(width, 3, padding="same", activation="gelu")(y)
        y = layers.Dense(width)(y)
        x = layers.Add()([x, y])
    return keras.Model(inputs, layers.Dense(1)(x))


class Experiment:
    def __init__(self, args):
        keras.utils.set_random_seed(args.seed)
        self.args = args
        self.model = build_tagger()
        self.optimizer = keras.optimizers.Adam(args.lr)
        self.optimizer.build(self.model.trainable_variables)
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
        self.step_fn = tf.function(self.train_step) if args.fixed else self.train_step

    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def fit(self, dataset, clock):
        for epoch in range(self.args.epochs):
            running = 0.0
            for batch, (x, y) in enumerate(dataset):
                running += float(self.step_fn(x, y))
                clock.tick()
            print(f"Epoch {epoch + 1}/{self.args.epochs} - loss: {running / (batch + 1):.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant")
    args = parser.parse_args()
    x, y = make_sequences(1024, 32, np.random.default_rng(args.seed))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024, seed=args.seed)
    dataset = dataset.batch(args.batch_size, drop_remainder=True).prefetch(1)
    experiment = Experiment(args)
    clock = StepClock()
    experiment.fit(dataset, clock)
    clock.dump()


if __name__ == "__main__":
    main()
