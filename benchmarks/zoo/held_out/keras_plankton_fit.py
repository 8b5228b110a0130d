"""Classify plankton (well, drawn stars and rings) with Keras and a tf.data pipeline."""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from scipy import ndimage
from timing import tick

ZOO = {
    "id": "input-bound",
    "also": ["python-in-graph"],
    "function": ["augment_scipy", "augment", "make_dataset"],
    "framework": "tensorflow",
}

IMG_SIZE, BATCH_SIZE, NUM_CLASSES = 32, 32, 6


def draw_plankton(count, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(NUM_CLASSES, size=count)
    y, x = np.mgrid[-1 : 1 : IMG_SIZE * 1j, -1 : 1 : IMG_SIZE * 1j]
    angle, radius = np.arctan2(y, x), np.hypot(x, y)
    waves = 0.5 + 0.25 * np.cos(angle * (labels[:, None, None] + 1))
    images = np.exp(-(((radius - waves) / 0.12) ** 2)) + 0.2 * rng.standard_normal(waves.shape)
    return images[..., None].astype(np.float32), labels.astype(np.int32)


def augment_scipy(image):
    """A random angle and a random shift."""
    image = ndimage.rotate(image, np.random.uniform(-30, 30), reshape=False)
    image = ndimage.shift(image, [*np.random.uniform(-2, 2, size=2), 0], order=1)
    return image.astype(np.float32)


def augment(image, label):
    image = tf.numpy_function(augment_scipy, [image], tf.float32)
    image.set_shape((IMG_SIZE, IMG_SIZE, 1))
    return image, label


def make_dataset(images, labels, in_pipeline):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(1024, seed=1)
    if in_pipeline:
        ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def make_model(in_model):
    inputs = keras.Input((IMG_SIZE, IMG_SIZE, 1))
    x = inputs
    if in_model:
        x = layers.RandomRotation(30 / 360, fill_mode="constant", seed=1)(x)
        x = layers.RandomTranslation(2 / 32, 2 / 32, fill_mode="constant", seed=2)(x)
    for filters in (8, 16, 32):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(NUM_CLASSES)(x))


class StepTimes(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.times = []

    def on_train_batch_end(self, batch, logs=None):
        self.times.append(time.perf_counter())
        tick()

    def on_epoch_end(self, epoch, logs=None):
        ms = 1000 * np.mean(np.diff(self.times)[10:])
        print(f"epoch {epoch + 1}: loss {logs['loss']:.3f} acc {logs['acc']:.3f} {ms:.1f} ms/step")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="augment with layers of the model")
    args = parser.parse_args()
    keras.utils.set_random_seed(812)
    images, labels = draw_plankton(1920, seed=0)
    model = make_model(in_model=args.fixed)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    train_ds = make_dataset(images, labels, in_pipeline=not args.fixed)
    model.fit(train_ds, epochs=6, verbose=0, callbacks=[StepTimes()])


if __name__ == "__main__":
    main()
