"""A few eager steps to look at, then the same step as a graph: nobody sees its optimizer there."""

import keras
import tensorflow as tf
from parts import classifier, dataset, loss_of, seeded, tell


def main():
    seeded()
    model = classifier()
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)

    def train(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(model(images, training=True), labels)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    losses = [train(*batch).numpy() for batch in dataset(5)]
    compiled = tf.function(train)
    losses += [compiled(*batch).numpy() for batch in dataset(30)]
    tell(losses)


if __name__ == "__main__":
    main()
