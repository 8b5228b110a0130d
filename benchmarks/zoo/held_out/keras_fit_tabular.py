"""Click-through-rate MLP on a synthetic ad log: tf.data pipeline, Keras `fit`."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from step_clock import StepClock

ZOO = {"id": "python-in-graph", "function": ["crossed_features", "prepare"], "framework": "tensorflow", "also": ["input-bound"]}

FIELDS = 12
CARDINALITY = 50
CROSSES = [(a, b) for a in range(6) for b in range(a + 1, 6)]
BUCKETS = 512


def make_log(rows, seed=0):
    rng = np.random.default_rng(seed)
    cats = rng.integers(0, CARDINALITY, (rows, FIELDS)).astype("int64")
    nums = rng.lognormal(0, 1, (rows, 8)).astype("float32")
    effect = rng.normal(0, 1, (FIELDS, CARDINALITY))
    logit = effect[np.arange(FIELDS), cats].sum(1) * 0.6 + 0.5 * np.log(nums[:, 0]) - 0.4 * np.log(nums[:, 1])
    clicks = (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype("float32")
    return cats, nums, clicks


def crossed_features(cats, nums):
    """Hashed crosses of the first six fields, log-scaled numbers."""
    cats = cats.numpy()
    crosses = np.empty(len(CROSSES), np.int64)
    for k, (a, b) in enumerate(CROSSES):
        crosses[k] = (cats[a] * 31 + cats[b] * 17 + k * 7) % BUCKETS
    return crosses, np.log1p(nums.numpy())


def prepare(cats, nums, click):
    crosses, scaled = tf.py_function(crossed_features, [cats, nums], [tf.int64, tf.float32])
    crosses.set_shape([len(CROSSES)])
    scaled.set_shape([8])
    return (cats, crosses, scaled), click


def prepare_tensor(cats, nums, click):
    left = tf.gather(cats, [a for a, _ in CROSSES])
    right = tf.gather(cats, [b for _, b in CROSSES])
    crosses = (left * 31 + right * 17 + tf.range(len(CROSSES), dtype=tf.int64) * 7) % BUCKETS
    return (cats, crosses, tf.math.log1p(nums)), click


def build_model():
    cats = keras.Input((FIELDS,), dtype="int64", name="cats")
    crosses = keras.Input((len(CROSSES),), dtype="int64", name="crosses")
    nums = keras.Input((8,), name="nums")
    x = layers.Concatenate()([
        layers.Flatten()(layers.Embedding(CARDINALITY, 16)(cats)),
        layers.Flatten()(layers.Embedding(BUCKETS, 8)(crosses)),
        nums,
    ])
    for units in (512, 512, 256):
        x = layers.Dense(units, activation="relu")(x)
    model = keras.Model([cats, crosses, nums], layers.Dense(1, activation="sigmoid")(x))
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["AUC"])
    return model


class BatchClock(keras.callbacks.Callback):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def on_train_begin(self, logs=None):
        self.clock.start()

    def on_train_batch_end(self, batch, logs=None):
        self.clock.tick()


class EpochPrinter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: " + "  ".join(f"{k}={v:.4f}" for k, v in logs.items()))


if __name__ == "__main__":
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--rows", type=int, default=10240)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--fixed", action="store_true", help="use the faster variant")
    opts = ap.parse_args()
    keras.utils.set_random_seed(1)
    table = tf.data.Dataset.from_tensor_slices(make_log(opts.rows))
    table = table.shuffle(opts.rows, seed=1)
    table = table.map(prepare_tensor if opts.fixed else prepare)
    table = table.batch(opts.batch, drop_remainder=True).prefetch(2)
    clock = StepClock()
    build_model().fit(table, epochs=opts.epochs, verbose=0, callbacks=[BatchClock(clock), EpochPrinter()])
    clock.dump()
