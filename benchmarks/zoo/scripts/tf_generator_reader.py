"""A sentiment model in TensorFlow; a generator splits and looks up the words of each review."""

import argparse
import random

import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {
    "id": "input-bound",
    "function": ["reviews", "encoded"],
    "framework": "tensorflow",
}
LENGTH = 80


def encoded(text, words):
    ids = [words.get(word.strip(".,!?").lower(), 0) for word in text.split()]
    counts = {}
    for first, second in zip(ids, ids[1:]):
        counts[first, second] = counts.get((first, second), 0) + 1
    ids += [sum(pair) % len(words) for pair, often in counts.items() if often > 1]
    ids = ids[:LENGTH]
    return ids + [0] * (LENGTH - len(ids))


def reviews(texts, stars, words):
    def read():
        while True:
            for text, star in zip(texts, stars):
                yield encoded(text, words), star

    return read


def ready(texts, stars, words):
    rows = np.array([encoded(text, words) for text in texts], np.int32)
    data = tf.data.Dataset.from_tensor_slices((rows, np.array(stars, np.int32)))
    return data.cache().repeat()


def made_up(words, count=1500):
    texts, stars = [], []
    for _ in range(count):
        star = random.randrange(2)
        text = random.choices(words, weights=[1 + 2 * (at % 2 == star) for at in range(400)], k=250)
        texts.append(" ".join(f"{word}." if at % 9 == 8 else word for at, word in enumerate(text)))
        stars.append(star)
    return texts, stars


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    random.seed(5)
    tf.random.set_seed(5)
    known = [f"word{number}" for number in range(400)]
    words = {word: number + 1 for number, word in enumerate(known)}
    texts, stars = made_up(known)
    if asked.fixed:
        data = ready(texts, stars, words)
    else:
        signature = tf.TensorSpec([LENGTH], tf.int32), tf.TensorSpec([], tf.int32)
        data = tf.data.Dataset.from_generator(
            reviews(texts, stars, words), output_signature=signature
        )
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(402, 24),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(24, activation="relu"),
            tf.keras.layers.Dense(1),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(2e-3)
    criterion = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(ids, star):
        with tf.GradientTape() as tape:
            loss = criterion(star, model(ids, training=True)[:, 0])
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    for number, (ids, star) in enumerate(data.batch(32).take(300)):
        loss = train_step(ids, star)
        if number % 60 == 59:
            print(f"{number + 1}: {float(loss):.4f}")
        tick()


if __name__ == "__main__":
    main()
