"""A bag-of-words classifier that parses its vocabulary file for every batch of texts."""

import argparse
import json
import random

import numpy as np
from timing import tick

ZOO = {"id": "repeated-load", "function": "load_vocabulary", "framework": "numpy"}

WORDS = 12_000
KEPT = 2_000  # the frequent ones are features


def make_texts(count):
    """Texts of two classes, which like different words."""
    rng = random.Random(0)
    with open("vocabulary.json", "w") as file:
        json.dump({f"word{i}": {"id": i, "count": WORDS - i} for i in range(WORDS)}, file)
    texts, labels = [], []
    for _ in range(count):
        label = rng.randrange(2)
        words = [f"word{int(rng.triangular(0, KEPT, KEPT * label))}" for _ in range(20)]
        texts.append(" ".join(words))
        labels.append(label)
    return texts, np.array(labels)


def load_vocabulary():
    with open("vocabulary.json") as file:
        return json.load(file)


class Encoder:
    def __init__(self, keep):
        self.vocabulary = load_vocabulary() if keep else None

    def __call__(self, texts):
        vocabulary = self.vocabulary or load_vocabulary()
        counts = np.zeros((len(texts), KEPT), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                counts[row, vocabulary[word]["id"] % KEPT] += 1
        return counts


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    texts, labels = make_texts(1920)
    encode = Encoder(keep=arguments.fixed)
    rng = np.random.default_rng(2)
    w1 = rng.normal(0, 0.02, (KEPT, 256)).astype(np.float32)
    w2 = rng.normal(0, 0.1, 256).astype(np.float32)
    for epoch in range(4):
        total = 0.0
        order = rng.permutation(len(texts))
        for start in range(0, len(texts), 64):
            chosen = order[start : start + 64]
            x, y = encode([texts[i] for i in chosen]), labels[chosen]
            hidden = np.tanh(x @ w1)
            p = sigmoid(hidden @ w2)
            total -= np.log(np.where(y == 1, p, 1 - p) + 1e-9).mean()
            d = (p - y).astype(np.float32) / len(y)
            d_hidden = np.outer(d, w2) * (1 - hidden**2)
            w2 -= 0.5 * hidden.T @ d
            w1 -= 0.5 * x.T @ d_hidden
            tick()
        print(f"epoch {epoch} loss {total * 64 / len(texts):.4f}")


if __name__ == "__main__":
    main()
