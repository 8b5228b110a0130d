"""A focal weight is computed in NumPy, through py_function, in the middle of a graph."""

import argparse

import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {"id": "python-in-graph", "function": "focal_weights", "framework": "tensorflow"}

CLASSES = 20


def focal_weights(labels, scores):
    """Small for the samples the model is sure of."""
    labels, scores = labels.numpy(), scores.numpy()
    weights = np.empty(len(labels), dtype=np.float32)
    for row, label in enumerate(labels):
        exp = np.exp(scores[row] - scores[row].max())
        weights[row] = (1 - exp[label] / exp.sum()) ** 2
    return weights


def focal_weights_in_graph(labels, scores):
    chosen = tf.gather(tf.nn.softmax(scores), labels, axis=1, batch_dims=1)
    return tf.square(1 - chosen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    fixed = parser.parse_args().fixed
    tf.random.set_seed(0)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(CLASSES)]
    )
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def train_step(x, labels):
        with tf.GradientTape() as tape:
            scores = model(x, training=True)
            if fixed:
                weights = focal_weights_in_graph(labels, scores)
            else:
                weights = tf.py_function(focal_weights, [labels, scores], tf.float32)
                weights.set_shape([None])
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            loss = tf.reduce_mean(tf.stop_gradient(weights) * losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    centres = tf.random.normal((CLASSES, 128))
    for step in range(120):
        labels = tf.random.uniform((1024,), 0, CLASSES, tf.int32)
        x = tf.gather(centres, labels) + 2 * tf.random.normal((1024, 128))
        loss = train_step(x, labels)
        if step % 30 == 0:
            print(f"step {step} loss {float(loss):.4f}")
        tick()


if __name__ == "__main__":
    main()
