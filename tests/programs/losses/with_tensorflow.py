"""Losses of TensorFlow: eager, in functions, and as Keras reports them; it prints them all."""

import keras
import numpy
import tensorflow as tf

keras.utils.set_random_seed(0)
tf.config.experimental.enable_op_determinism()
model = keras.Sequential([keras.layers.Input((16,)), keras.layers.Dense(4)])
optimizer = keras.optimizers.SGD(0.1)
images = numpy.random.default_rng(0).normal(size=(40, 16)).astype("float32")


def tell(*losses):
    for loss in losses:
        print(float(loss).hex())


def loss_of(batch):
    return tf.reduce_mean(tf.square(model(batch, training=True)))


def eagerly():
    for _ in range(4):
        with tf.GradientTape() as tape:
            loss = loss_of(images)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        tell(loss)


def with_a_gradient_in_it():
    batch = tf.constant(images)
    for _ in range(2):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(batch)
                outputs = model(batch)
            loss = tf.reduce_mean(tf.square(inner.gradient(outputs, batch)))
        tape.gradient(target=loss, sources=model.trainable_variables)
        tell(loss)


@tf.function
def train(batch):
    with tf.GradientTape() as tape:
        loss = loss_of(batch)
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    return loss


@tf.function
def train_and_measure(batch):
    return {"rate": tf.constant(0.1), "loss": train(batch), "outputs": model(batch)}


@tf.function
def evaluate(batch):
    return loss_of(batch)


def in_functions():
    for _ in range(4):
        tell(train(images))
    for _ in range(3):
        tell(train_and_measure(images)["loss"])
        evaluate(images)


class Told(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        tell(logs["loss"])


class Pair(keras.Model):
    """A step of its own with two losses, and none called loss."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, batch):
        return self.dense(batch)

    def train_step(self, data):
        outputs = self(data[0])
        return {
            "first_loss": tf.reduce_mean(outputs),
            "second_loss": tf.reduce_sum(outputs),
            "size": 3.0,
        }


class ToldOfPairs(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        tell(logs["first_loss"], logs["second_loss"])


def with_keras():
    labels = numpy.zeros((40, 4), "float32")
    for eager in (False, True):
        model.compile(
            optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"], run_eagerly=eager
        )
        model.fit(images, labels, batch_size=8, epochs=2, verbose=0, callbacks=[Told()])
    for _ in range(3):
        tell(model.train_on_batch(images, labels)[0])
    tell(model.train_on_batch(images, labels, return_dict=True)["loss"])
    model.test_on_batch(images, labels)
    pair = Pair()
    pair.compile()
    pair.fit(images, labels, batch_size=8, verbose=0, callbacks=[ToldOfPairs()])


eagerly()
with_a_gradient_in_it()
in_functions()
with_keras()
