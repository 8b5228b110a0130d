"""A TensorFlow loop without a graph. Its argument names the function that makes the step."""

import sys

import tensorflow as tf

weights = [tf.Variable(tf.fill((8, 8), 0.1 * i)) for i in range(1, 5)]


def loss_of(x):
    for weight in weights:
        x = tf.tanh(x @ weight)
    return tf.reduce_mean(tf.square(x - 0.5))


def plain(x, rate):
    with tf.GradientTape() as tape:
        loss = loss_of(x)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(rate * gradient)
    return loss


def through_python(x, rate):
    """Nothing in its source says that the graph cannot have it."""
    if "Eager" not in type(x).__name__:
        raise TypeError("not a value")
    return plain(x, rate)


step_function = globals()[sys.argv[1]]


def main():
    for step in range(12):
        x = tf.fill((4, 8), 0.1 * (step % 3))
        loss = step_function(x, 0.1 / (step + 1))
        print(float(loss))


main()
