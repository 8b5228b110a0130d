"""Intent detection for a voice assistant. A Keras model, with a training loop of our own."""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {
    "id": "recompilation",
    "function": ["Trainer.train_step", "pad", "main"],
    "framework": "tensorflow",
}

VOCAB, INTENTS, DIM, LONGEST = 800, 12, 96, 64


def make_utterances(count, rng):
    """Token lists of different lengths; each intent has favourite words."""
    favourites = rng.integers(1, VOCAB, size=(INTENTS, 20))
    utterances, intents = [], rng.integers(INTENTS, size=count)
    for intent in intents:
        length = min(LONGEST, 4 + rng.poisson(14) + int(rng.exponential(6)))
        words = rng.integers(1, VOCAB, size=length)
        chosen = rng.random(length) < 0.3
        words[chosen] = rng.choice(favourites[intent], size=chosen.sum())
        utterances.append(words)
    return utterances, intents


def pad(utterances, width=None):
    width = width or max(len(words) for words in utterances)
    out = np.zeros((len(utterances), width), np.int32)
    for row, words in zip(out, utterances, strict=True):
        row[: len(words)] = words
    return tf.constant(out)


class SelfAttention(keras.layers.Layer):
    def __init__(self, heads, dim):
        super().__init__()
        self.attention = keras.layers.MultiHeadAttention(heads, dim // heads)
        self.norm1 = keras.layers.LayerNormalization()
        self.norm2 = keras.layers.LayerNormalization()
        self.inner = keras.layers.Dense(2 * dim, activation="gelu")
        self.outer = keras.layers.Dense(dim)

    def call(self, x, mask):
        x = self.norm1(x + self.attention(x, x, attention_mask=mask[:, None, :]))
        return self.norm2(x + self.outer(self.inner(x)))


class IntentModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.words = keras.layers.Embedding(VOCAB, DIM)
        self.block = SelfAttention(4, DIM)
        self.classify = keras.layers.Dense(INTENTS)

    def call(self, tokens):
        mask = tf.not_equal(tokens, 0)
        x = self.block(self.words(tokens), mask)
        weights = tf.cast(mask, x.dtype)[..., None]
        return self.classify(tf.reduce_sum(x * weights, 1) / tf.reduce_sum(weights, 1))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(self, tokens, intents):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(intents, self.model(tokens, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="all batches as wide as the longest")
    args = parser.parse_args()
    keras.utils.set_random_seed(99)
    utterances, intents = make_utterances(3000, np.random.default_rng(99))
    trainer = Trainer(IntentModel())
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for step in range(1, 241):
        rows = rng.integers(len(utterances), size=24)
        tokens = pad([utterances[i] for i in rows], LONGEST if args.fixed else None)
        loss = trainer.train_step(tokens, tf.constant(intents[rows]))
        if step % 60 == 0:
            ms = 1000 * (time.perf_counter() - start) / step
            print(f"step {step}: loss {float(loss):.3f}, {ms:.1f} ms on average")
        tick()


if __name__ == "__main__":
    main()
