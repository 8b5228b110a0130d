"""A loop around a tf.function that does the step; another one evaluates, with a metric of its own."""

import keras
import tensorflow as tf
from parts import classifier, dataset, loss_of, seeded, tell


def main():
    seeded()
    model = classifier()
    optimizer = keras.optimizers.SGD(0.1)
    mean = keras.metrics.Mean()

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(model(images, training=True), labels)
        gradients = tape.gradient(loss, model.trainable_variables)
        if tf.reduce_any(tf.math.is_nan(loss)):  # autograph turns this into a part of the graph
            loss = tf.zeros_like(loss)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def test_step(images, labels):
        mean.update_state(loss_of(model(images, training=False), labels))

    losses = []
    for _ in range(2):
        for images, labels in dataset(20):
            losses.append(train_step(images, labels))
        for images, labels in dataset(4):
            test_step(images, labels)
        losses.append(mean.result())
    tell(losses)


if __name__ == "__main__":
    main()
