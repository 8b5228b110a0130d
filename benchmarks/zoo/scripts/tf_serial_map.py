"""A tf.data pipeline decodes one picture after the other, and only when the step asks."""

import argparse

import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {
    "id": "input-bound",
    "function": ["decode", "make_pipeline", "main"],
    "framework": "tensorflow",
}


def make_files(count, size=96):
    """Encoded pictures with a bright quarter."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, count)
    encoded = []
    for label in labels:
        picture = rng.integers(0, 120, (size, size, 3)).astype(np.uint8)
        down, right = (size // 2) * (label // 2), (size // 2) * (label % 2)
        picture[down : down + size // 2, right : right + size // 2] += 100
        encoded.append(tf.io.encode_png(picture).numpy())
    return encoded, labels


def decode(encoded, label):
    picture = tf.io.decode_png(encoded, channels=3)
    picture = tf.image.resize(tf.cast(picture, tf.float32) / 255, (72, 72), method="bicubic")
    picture = tf.image.random_crop(picture, (64, 64, 3))
    return tf.image.random_contrast(picture, 0.8, 1.2), label


def make_pipeline(encoded, labels, fixed):
    pipeline = tf.data.Dataset.from_tensor_slices((encoded, labels)).shuffle(500, seed=0).repeat()
    if fixed:
        pipeline = pipeline.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        return pipeline.batch(24).prefetch(tf.data.AUTOTUNE)
    return pipeline.map(decode).batch(24)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    tf.random.set_seed(0)
    pipeline = make_pipeline(*make_files(500), arguments.fixed)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, 5, strides=4, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(4),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(pictures, labels):
        with tf.GradientTape() as tape:
            scores = model(pictures, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for step, (pictures, labels) in enumerate(pipeline.take(120)):
        loss = train_step(pictures, labels)
        if step % 20 == 0:
            print(f"step {step} loss {float(loss):.3f}")
        tick()


if __name__ == "__main__":
    main()
