"""A picture classifier in NumPy that opens its archive again for every batch."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "repeated-load", "function": "load_batch", "framework": "numpy"}

ARCHIVE = "pictures.npz"


def make_archive():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 5000)
    pictures = rng.integers(0, 80, (5000, 28, 28)).astype(np.uint8)
    pictures[np.arange(5000), labels * 2 + 4] += 120
    np.savez_compressed(ARCHIVE, pictures=pictures.reshape(5000, -1), labels=labels)


def load_batch(indices):
    with np.load(ARCHIVE) as archive:
        pictures = archive["pictures"][indices]
        labels = archive["labels"][indices]
    return pictures.astype(np.float32) / 255, labels


def train(steps, fixed):
    rng = np.random.default_rng(1)
    w1 = rng.normal(0, 0.05, (784, 512)).astype(np.float32)
    w2 = rng.normal(0, 0.05, (512, 10)).astype(np.float32)
    if fixed:
        with np.load(ARCHIVE) as archive:
            all_pictures, all_labels = archive["pictures"], archive["labels"]
    for step in range(steps):
        indices = rng.integers(0, 5000, 256)
        if fixed:
            x, y = all_pictures[indices].astype(np.float32) / 255, all_labels[indices]
        else:
            x, y = load_batch(indices)
        hidden = np.maximum(x @ w1, 0)
        scores = hidden @ w2
        scores -= scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        p /= p.sum(axis=1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        p[np.arange(len(y)), y] -= 1
        d_hidden = (p @ w2.T) * (hidden > 0)
        w2 -= 0.2 / len(y) * (hidden.T @ p)
        w1 -= 0.2 / len(y) * (x.T @ d_hidden)
        if step % 20 == 0:
            print(f"step {step} loss {loss:.3f}")
        tick()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    make_archive()
    train(arguments.steps, arguments.fixed)
