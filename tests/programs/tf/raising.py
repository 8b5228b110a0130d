"""Errors in every place where something is watched; their tracebacks are printed."""

import traceback

import keras
import numpy
import tensorflow as tf
from parts import BATCH, arrays, classifier, dataset, loss_of, seeded


class Broken(keras.layers.Layer):
    def call(self, inputs):
        return inputs @ tf.zeros((3, 3))


@tf.function
def wrong_when_traced(images):
    if tf.reduce_sum(images) > 0:
        images = images + 1
    else:
        images = images - 1
    return tf.matmul(images, tf.zeros((5, 5)))


@tf.function
def wrong_when_run(images):
    with tf.GradientTape() as tape:
        tape.watch(images)
        loss = tf.reduce_sum(tf.gather(images, [1000])) + tf.debugging.assert_less(images, -1e9)
    return tape.gradient(loss, images)


@tf.function
def wrong_in_a_layer(images):
    return Broken()(images)


class Raising(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 2:
            raise RuntimeError("the callback raises")


def forward(images):
    with tf.GradientTape():
        Broken()(images)


def backward(images):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(images)
    tape.gradient(loss, "no variable")


def optimizer(images):
    model = classifier()
    keras.optimizers.SGD().apply_gradients([(tf.zeros((2, 2)), model.trainable_variables[0])])


def numbers(images):
    float(images)


def fit_of_wrong_shape(images):
    model = classifier()
    model.compile("sgd", "mse")
    model.fit(numpy.zeros((64, 3)), numpy.zeros((64, 10)), verbose=0)


def fit_with_callback(images):
    model = classifier()
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(*arrays(4), batch_size=BATCH, verbose=0, callbacks=[Raising()])


def input_that_raises(images):
    def read(number):
        raise OSError(f"no batch {number}")

    data = tf.data.Dataset.range(3).map(lambda number: tf.numpy_function(read, [number], tf.int64))
    next(iter(data))


def train_on_wrong_batch(images):
    model = classifier()
    model.compile("sgd", "mse")
    model.train_on_batch(numpy.zeros((4, 3)), numpy.zeros((4, 10)))


def main():
    seeded()
    images, labels = next(iter(dataset(1)))
    loss_of(classifier()(images), labels)
    for wrong in (
        forward, backward, optimizer, numbers, wrong_when_traced, wrong_when_run, wrong_in_a_layer,
        fit_of_wrong_shape, fit_with_callback, input_that_raises, train_on_wrong_batch,
    ):
        try:
            wrong(images)
        except Exception:
            print(f"--- {getattr(wrong, '__name__', wrong)}")
            print(traceback.format_exc())
        else:
            print(f"--- {wrong}: nothing was raised")


if __name__ == "__main__":
    main()
