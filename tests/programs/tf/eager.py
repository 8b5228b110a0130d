"""An eager loop with one optimizer, validation after each epoch, a checkpoint and summaries."""

import os
import tempfile

import keras
import tensorflow as tf
from parts import classifier, dataset, loss_of, seeded, tell


def main():
    seeded()
    model = classifier()
    optimizer = keras.optimizers.Adam()
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        writer = tf.summary.create_file_writer(folder)
        for epoch in range(2):
            for images, labels in dataset(12):
                with tf.GradientTape() as tape:
                    loss = loss_of(model(images, training=True), labels)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                losses.append(loss.numpy())
                with writer.as_default(step=len(losses)):
                    tf.summary.scalar("loss", loss)
            for images, labels in dataset(3):
                losses.append(loss_of(model(images, training=False), labels).numpy())
            model.save_weights(os.path.join(folder, "last.weights.h5"))
            tf.train.Checkpoint(model=model).save(os.path.join(folder, "checkpoint"))
    tell(losses)


if __name__ == "__main__":
    main()
