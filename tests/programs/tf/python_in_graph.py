"""A graph that calls back into Python, where a loop goes over the samples."""

import numpy as np
import tensorflow as tf

weights = tf.Variable(tf.random.normal((128, 20), seed=0))


def sure_of(scores):
    found = np.empty(len(scores), np.float32)
    for row in range(len(scores)):
        exp = np.exp(scores[row] - scores[row].max())
        found[row] = exp.max() / exp.sum()
    return found


@tf.function
def step(images):
    with tf.GradientTape() as tape:
        scores = images @ weights
        known = tf.numpy_function(sure_of, [scores], tf.float32)
        loss = tf.reduce_mean(tf.square(scores)) * (1 + tf.reduce_mean(known))
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
    return loss


for number in range(60):
    loss = step(tf.random.normal((1024, 128), seed=number))
print(bool(np.isfinite(loss.numpy())))
