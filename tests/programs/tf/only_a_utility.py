"""TensorFlow is imported and used for its files only; the work is done by NumPy."""

import os
import tempfile

import numpy
import tensorflow as tf

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "data")
    tf.io.write_file(path, "1 2 3")
    weights = numpy.zeros((500, 500))
    for number in range(30):
        scale = float(tf.io.read_file(path).numpy().split()[0])
        for _ in range(10):
            weights = numpy.tanh(weights @ weights.T + scale)
    print(weights.sum())
