"""A TensorFlow loop that nobody put into a tf.function."""

import argparse

import tensorflow as tf
from timing import tick

ZOO = {"id": "eager-overhead", "function": "train_step", "framework": "tensorflow"}

tf.random.set_seed(0)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(32, activation="tanh") for _ in range(8)] + [tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.Adam(2e-3)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    step_function = tf.function(train_step) if parser.parse_args().fixed else train_step
    for step in range(150):
        x = tf.random.normal((64, 16))
        y = tf.sin(tf.reduce_sum(x[:, :2], axis=1, keepdims=True))
        loss = step_function(x, y)
        if step % 30 == 0:
            print(f"step {step} loss {float(loss):.4f}")
        tick()


if __name__ == "__main__":
    main()
