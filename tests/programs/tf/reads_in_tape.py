"""A training that reads its table again under the tape."""

import os
import tempfile

import numpy as np
import tensorflow as tf

TABLE = os.path.join(tempfile.mkdtemp(), "table.npz")
np.savez_compressed(TABLE, table=np.random.default_rng(0).standard_normal((600, 256), np.float32))


def table():
    with np.load(TABLE) as archive:
        return tf.constant(archive["table"])


def main():
    model = tf.keras.Sequential([tf.keras.layers.Dense(256)])
    model(tf.zeros((1, 256)))  # builds it
    optimizer = tf.keras.optimizers.SGD(1e-4)
    for _ in range(40):
        x = tf.random.normal((64, 256))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(model(x), table(), transpose_b=True) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))


main()
