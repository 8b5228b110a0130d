"""A tf.function gets its learning rate as a Python number, another one in every step."""

import argparse
import math

import tensorflow as tf
from timing import tick

ZOO = {"id": "recompilation", "function": ["main", "train_step"], "framework": "tensorflow"}

tf.random.set_seed(0)
first = tf.Variable(tf.random.normal((64, 256), stddev=0.1))
second = tf.Variable(tf.random.normal((256, 256), stddev=0.06))
third = tf.Variable(tf.random.normal((256, 1), stddev=0.06))
variables = [first, second, third]


@tf.function
def train_step(x, y, rate):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.nn.relu(x @ first) @ second)
        loss = tf.reduce_mean(tf.square(hidden @ third - y))
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(rate * gradient)
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    for step in range(arguments.steps):
        x = tf.random.normal((512, 64))
        y = tf.tanh(tf.reduce_sum(x[:, :3], axis=1, keepdims=True))
        rate = 0.05 * (1 + math.cos(math.pi * step / arguments.steps))
        loss = train_step(x, y, tf.constant(rate) if arguments.fixed else rate)
        if step % 20 == 0:
            print(f"step {step} rate {rate:.3f} loss {float(loss):.4f}")
        tick()


if __name__ == "__main__":
    main()
