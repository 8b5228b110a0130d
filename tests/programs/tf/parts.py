"""Small pieces that the TensorFlow programs share."""

import keras
import numpy
import tensorflow as tf

BATCH = 32


def seeded():
    keras.utils.set_random_seed(0)
    tf.config.experimental.enable_op_determinism()


def classifier():
    return keras.Sequential(
        [
            keras.layers.Input((64,)),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(10),
        ]
    )


def arrays(batches):
    numbers = numpy.random.default_rng(0)
    images = numbers.normal(size=(batches * BATCH, 64)).astype("float32")
    return images, numbers.integers(0, 10, batches * BATCH)


def dataset(batches):
    return tf.data.Dataset.from_tensor_slices(arrays(batches)).batch(BATCH)


def loss_of(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def tell(losses):
    for loss in losses:
        print(float(loss).hex())
