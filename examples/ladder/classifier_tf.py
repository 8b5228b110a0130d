"""Train a classifier of digits, in TensorFlow: written to work, not to be fast.

See how fast it can be:  stepscope try --ladder examples/ladder/classifier_tf.py
"""

import argparse
from pathlib import Path

import keras
import tensorflow as tf

DATA = Path(__file__).parent.parent / "data" / "pictures"
SIZE = 28


def read(file):
    """The picture of a text file, and its label, which is in the file's name."""
    words = tf.strings.split(tf.io.read_file(file))
    picture = tf.reshape(tf.strings.to_number(words), (SIZE, SIZE, 1))
    label = tf.strings.to_number(tf.strings.substr(file, -5, 1), tf.int32)
    return picture / 255, label


def sharpened(picture, label):
    """Twice as large, with more contrast at the edges."""
    large = tf.image.resize(picture, (2 * SIZE, 2 * SIZE), method="bicubic")
    smooth = tf.nn.avg_pool2d(large[None], 3, 1, "SAME")[0]
    return tf.clip_by_value(2 * large - smooth, 0, 1), label


def make_pipeline(files, batch):
    dataset = tf.data.Dataset.from_tensor_slices(files)
    dataset = dataset.map(read).map(sharpened)
    return dataset.shuffle(256, seed=0).batch(batch, drop_remainder=True)


def make_model(width, blocks):
    pictures = keras.layers.Input((2 * SIZE, 2 * SIZE, 1))
    x = keras.layers.Dense(width)(keras.layers.Flatten()(pictures))
    for _ in range(blocks):
        hidden = keras.layers.LayerNormalization()(x)
        hidden = keras.layers.Dense(2 * width, activation="gelu")(hidden)
        x = keras.layers.Add()([x, keras.layers.Dense(width)(hidden)])
    scores = keras.layers.Dense(10)(keras.layers.LayerNormalization()(x))
    return keras.Model(pictures, scores)


class Training:
    """The model, its optimizer, and what both of them do with a batch."""

    def __init__(self, width, blocks, rate):
        self.model = make_model(width, blocks)
        self.optimizer = keras.optimizers.Adam(rate)
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.optimizer.build(self.model.trainable_variables)

    def train_step(self, pictures, labels):
        with tf.GradientTape() as tape:
            loss = self.loss(labels, self.model(pictures, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss


def train(arguments):
    keras.utils.set_random_seed(0)
    files = sorted(str(file) for file in arguments.data.glob("*.txt"))
    dataset = make_pipeline(files, arguments.batch)
    training = Training(arguments.width, arguments.blocks, arguments.rate)
    for epoch in range(arguments.epochs):
        for pictures, labels in dataset:
            loss = training.train_step(pictures, labels)
        print(f"epoch {epoch:2d}  loss {float(loss):.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--rate", type=float, default=1e-4)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
