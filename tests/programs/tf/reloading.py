"""An eager loop that reads its data from the disk again for every step."""

import os
import tempfile

import keras
import numpy
import tensorflow as tf
from parts import BATCH, arrays, classifier, loss_of, seeded, tell


def batch_of(path, number):
    with numpy.load(path) as data:
        images, labels = data["images"], data["labels"]
    begin = number * BATCH
    return images[begin : begin + BATCH], labels[begin : begin + BATCH]


def main():
    seeded()
    model = classifier()
    optimizer = keras.optimizers.SGD(0.1)
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.npz")
        images, labels = arrays(1000)
        numpy.savez(path, images=images, labels=labels)
        for number in range(25):
            images, labels = batch_of(path, number)
            with tf.GradientTape() as tape:
                loss = loss_of(model(images, training=True), labels)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            losses.append(loss)
    tell(losses)


if __name__ == "__main__":
    main()
