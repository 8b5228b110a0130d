"""Scripts that use TensorFlow's profiler themselves. The way, and the folder for the traces."""

import sys

import keras
import tensorflow as tf
from parts import BATCH, arrays, classifier, dataset, loss_of, seeded, tell

way, folder = sys.argv[1:]
seeded()
model = classifier()
optimizer = keras.optimizers.SGD(0.1)


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(model(images, training=True), labels)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def loop(before=None, after=None):
    losses = []
    for number, (images, labels) in enumerate(dataset(16)):
        if number == 6 and before:
            before()
        losses.append(train_step(images, labels))
        if number == 9 and after:
            after()
    tell(losses)


if way == "middle":  # it begins where a window of ours is open
    loop(lambda: tf.profiler.experimental.start(folder), tf.profiler.experimental.stop)
elif way == "whole":
    with tf.profiler.experimental.Profile(folder):
        loop()
elif way == "thrown":
    loop(lambda: tf.profiler.experimental.start(folder), lambda: tf.profiler.experimental.stop(save=False))
elif way == "twice":
    tf.profiler.experimental.start(folder)
    try:
        tf.profiler.experimental.start(folder)
    except tf.errors.AlreadyExistsError as error:
        print(error.message)
    loop()
    tf.profiler.experimental.stop()
elif way == "callback":
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    board = keras.callbacks.TensorBoard(folder, profile_batch=(7, 9))
    history = model.fit(*arrays(16), batch_size=BATCH, epochs=1, verbose=0, callbacks=[board])
    tell(history.history["loss"])
