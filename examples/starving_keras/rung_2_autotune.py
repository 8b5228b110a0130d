"""Train a classifier of PNG files with Keras' fit. Rung 2: beside the step, as AUTOTUNE chooses.

See the change, in this folder:  diff -u rung_1_serial.py rung_2_autotune.py
"""

import argparse
import time
from pathlib import Path

import keras
import tensorflow as tf
from keras import layers

DATA = Path(__file__).parent.parent / "data" / "pngs"
CROP = 192  # 75 % of a file's 256 pixels
SIZE = 512


def read(file):
    picture = tf.io.decode_png(tf.io.read_file(file), channels=3)
    label = tf.strings.to_number(tf.strings.substr(file, -5, 1), tf.int32)
    return tf.image.convert_image_dtype(picture, tf.float32), label


def augmented(picture, label):
    picture = tf.image.random_crop(picture, (CROP, CROP, 3), seed=1)
    picture = tf.image.random_contrast(picture, 0.7, 1.3, seed=2)
    picture = tf.image.random_saturation(picture, 0.7, 1.3, seed=3)
    return tf.image.resize(picture, (SIZE, SIZE)), label


def as_written():
    """TensorFlow would make some pipelines parallel by itself: this one runs as it is written."""
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.inject_prefetch = False
    return options


def make_pipeline(files, batch):
    dataset = tf.data.Dataset.from_tensor_slices(files).repeat().with_options(as_written())
    dataset = dataset.map(read, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.map(augmented, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def make_model(width):
    model = keras.Sequential(
        [
            layers.Input((SIZE, SIZE, 3)),
            layers.Conv2D(width, 7, strides=4, activation="relu"),
            layers.Conv2D(2 * width, 3, strides=2, activation="relu"),
            layers.Conv2D(4 * width, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(10, dtype="float32"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-3), loss)
    return model


class Log(keras.callbacks.Callback):
    """The time of a step and the pictures a second, once an epoch."""

    def __init__(self, batch, steps):
        super().__init__()
        self.batch, self.steps = batch, steps

    def on_epoch_begin(self, epoch, logs=None):
        self.began = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        step_time = (time.perf_counter() - self.began) / self.steps
        print(
            f"epoch {epoch:2d}  loss {logs['loss']:.3f}  step_time {1e3 * step_time:.1f} ms"
            f"  throughput {self.batch / step_time:,.0f} img/s",
            flush=True,
        )


def train(arguments):
    keras.utils.set_random_seed(0)
    files = sorted(str(file) for file in arguments.data.glob("*.png"))
    dataset = make_pipeline(files, arguments.batch)
    model = make_model(arguments.width)
    steps = arguments.steps // arguments.epochs
    log = Log(arguments.batch, steps)
    model.fit(dataset, epochs=arguments.epochs, steps_per_epoch=steps, callbacks=[log], verbose=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--width", type=int, default=8)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
