"""Weights that are updated without an optimizer, inside a tf.function that is a method."""

import tensorflow as tf
from parts import dataset, loss_of, seeded, tell


class Trainer(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = tf.Variable(tf.random.normal((64, 10), seed=0))

    @tf.function
    def step(self, images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(images @ self.weights, labels)
        self.weights.assign_sub(0.1 * tape.gradient(loss, self.weights))
        return loss


def main():
    seeded()
    trainer = Trainer()
    tell([trainer.step(images, labels) for _ in range(2) for images, labels in dataset(15)])


if __name__ == "__main__":
    main()
