"""A Keras training that waits for a Python generator, under TensorFlow's profiler:
cpu_trace.py FOLDER"""

import sys

import numpy as np
import tensorflow as tf


def batches():
    for _ in range(30):
        total = sum(number % 7 for number in range(60_000))
        yield np.full((32, 64), total * 1e-9, np.float32), np.zeros(32, np.int64)


shapes = tf.TensorSpec((32, 64)), tf.TensorSpec((32,), tf.int64)
data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
model = tf.keras.Sequential(
    [tf.keras.Input((64,)), tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(10)]
)
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, verbose=0)
tf.profiler.experimental.start(sys.argv[1])
model.fit(data, verbose=0)
tf.profiler.experimental.stop()
