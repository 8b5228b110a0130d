"""A Keras metric that leaves the graph to rank the predictions in NumPy, batch by batch."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {
    "id": "python-in-graph",
    "function": ["rank_correlation", "Spearman.update_state"],
    "framework": "tensorflow",
}


def rank_correlation(truth, guess):
    """Spearman's rho over all pairs of a batch."""
    above = np.sign(truth[:, None] - truth[None, :])
    over = np.sign(guess[:, None] - guess[None, :])
    ranks, guessed = above.sum(axis=1), over.sum(axis=1)
    return np.float32(np.corrcoef(ranks, guessed)[0, 1])


class Spearman(keras.metrics.Metric):
    def __init__(self, inside, **options):
        super().__init__(name="spearman", **options)
        self.inside = inside
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, truth, guess, sample_weight=None):
        truth, guess = tf.reshape(truth, [-1]), tf.reshape(guess, [-1])
        if self.inside:
            rho = self.correlation(truth, guess)
        else:
            rho = tf.numpy_function(rank_correlation, [truth, guess], tf.float32)
        self.total.assign_add(tf.reshape(rho, []))
        self.count.assign_add(1.0)

    def correlation(self, truth, guess):
        """The same with TensorFlow's own operators."""
        ranks = tf.cast(tf.argsort(tf.argsort(truth)), tf.float32)
        guessed = tf.cast(tf.argsort(tf.argsort(guess)), tf.float32)
        ranks -= tf.reduce_mean(ranks)
        guessed -= tf.reduce_mean(guessed)
        return tf.reduce_sum(ranks * guessed) / tf.norm(ranks) / tf.norm(guessed)

    def result(self):
        return self.total / self.count


class Clock(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    x = rng.normal(size=(700 * 100, 60)).astype("f4")
    y = np.tanh(x[:, 0] + x[:, 1] * x[:, 2]).astype("f4")
    layers = [keras.layers.Dense(256, activation="gelu") for _ in range(3)]
    model = keras.Sequential([*layers, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.05), "mse", metrics=[Spearman(inside=asked.fixed)])
    story = model.fit(x, y, batch_size=700, verbose=0, callbacks=[Clock()], shuffle=False)
    print(" ".join(f"{name} {values[-1]:.3f}" for name, values in sorted(story.history.items())))


if __name__ == "__main__":
    main()
