"""A loop of a graph function whose steps are marked as XProf wants it, for a recorder outside."""

import tensorflow as tf

STEPS = 24


def decode(number):
    image = tf.random.uniform([20_000])
    for _ in range(4):
        image = tf.sort(tf.reverse(image, [0]))
    return image + tf.cast(number, tf.float32)


dataset = tf.data.Dataset.range(16 * (STEPS + 4)).map(decode).batch(16).prefetch(1)
weights = tf.Variable(tf.random.normal([20_000, 64]))


@tf.function
def train(iterator):
    batch = next(iterator)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.relu(batch @ weights))
    weights.assign_sub(1e-6 * tape.gradient(loss, weights))
    return loss


iterator = iter(dataset)
for step in range(STEPS):
    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
        train(iterator).numpy()
