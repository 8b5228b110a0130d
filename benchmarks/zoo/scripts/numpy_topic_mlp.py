"""Topic classification from bags of words with a two-layer network written in NumPy."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "python-hot-loop", "function": "bag_of_words", "framework": "numpy"}

VOCABULARY = 1500
TOPICS = 8


def write_documents(n, words, rng):
    """Each topic has words of its own that it prefers."""
    topics = rng.integers(TOPICS, size=n)
    common = rng.zipf(1.3, size=(n, words)) % VOCABULARY
    own = topics[:, None] * 100 + rng.integers(100, size=(n, words))
    return np.where(rng.random((n, words)) < 0.15, own, common), topics


def bag_of_words(tokens):
    """Counts of each word for each document."""
    bag = np.zeros((len(tokens), VOCABULARY), dtype=np.float32)
    for row, document in enumerate(tokens):
        for token in document:
            bag[row, token] += 1.0
    return bag


def bag_of_words_at_once(tokens):
    flat = tokens + VOCABULARY * np.arange(len(tokens))[:, None]
    counts = np.bincount(flat.ravel(), minlength=len(tokens) * VOCABULARY)
    return counts.reshape(len(tokens), VOCABULARY).astype(np.float32)


class Network:
    def __init__(self, hidden, rng):
        self.w1 = (rng.normal(size=(VOCABULARY, hidden)) / 30).astype(np.float32)
        self.b1 = np.zeros(hidden, dtype=np.float32)
        self.w2 = (rng.normal(size=(hidden, TOPICS)) / 15).astype(np.float32)
        self.b2 = np.zeros(TOPICS, dtype=np.float32)

    def forward(self, x):
        self.x = x
        self.h = np.maximum(x @ self.w1 + self.b1, 0)
        logits = self.h @ self.w2 + self.b2
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        return p / p.sum(axis=1, keepdims=True)

    def backward(self, p, y, lr):
        n = len(y)
        loss = -np.log(p[np.arange(n), y] + 1e-9).mean()
        delta = p.copy()
        delta[np.arange(n), y] -= 1
        delta /= n
        back = (delta @ self.w2.T) * (self.h > 0)
        self.w2 -= lr * self.h.T @ delta
        self.b2 -= lr * delta.sum(axis=0)
        self.w1 -= lr * self.x.T @ back
        self.b1 -= lr * back.sum(axis=0)
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=128)
    args = parser.parse_args()
    vectorize = bag_of_words_at_once if args.fixed else bag_of_words

    rng = np.random.default_rng(0)
    documents, topics = write_documents(5120, 150, rng)
    network = Network(384, rng)
    for epoch in range(args.epochs):
        order = rng.permutation(len(documents))
        losses, right = [], 0
        for rows in np.array_split(order, len(documents) // args.batch_size):
            p = network.forward(vectorize(documents[rows]))
            losses.append(network.backward(p, topics[rows], lr=0.05))
            right += (p.argmax(axis=1) == topics[rows]).sum()
            tick()
        print(f"epoch {epoch}: loss {np.mean(losses):.3f} accuracy {right / len(documents):.3f}")


if __name__ == "__main__":
    main()
