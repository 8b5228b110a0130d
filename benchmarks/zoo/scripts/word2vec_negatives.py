"""Skip-gram vectors whose negative words are looked up one by one in a list comprehension."""

import argparse
from bisect import bisect_right

import numpy as np
from timing import tick

ZOO = {
    "id": "python-hot-loop",
    "function": ["Noise.draw", "Noise.draw.<locals>.<listcomp>", "<listcomp>"],
    "framework": "numpy",
}


class Noise:
    """Words drawn by how often they occur, to the power of 3/4."""

    def __init__(self, counts, at_once):
        self.borders = np.cumsum(counts**0.75) / np.sum(counts**0.75)
        self.listed = self.borders.tolist()
        self.at_once = at_once

    def draw(self, uniform):
        if self.at_once:
            words = np.searchsorted(self.borders, uniform.ravel(), side="right")
        else:
            words = np.array([bisect_right(self.listed, u) for u in uniform.ravel().tolist()])
        return np.minimum(words, len(self.borders) - 1).reshape(uniform.shape)


class Vectors:
    def __init__(self, words, size, rng):
        self.inner = rng.normal(0, 0.1, (words, size)).astype("f4")
        self.outer = np.zeros((words, size), "f4")

    @staticmethod
    def descend(table, rows, gradients, rate):
        """By the mean gradient of each row, which may occur more than once."""
        order = np.argsort(rows, kind="stable")
        firsts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        counts = np.diff(firsts, append=len(rows))[:, None]
        table[rows[order][firsts]] -= rate * np.add.reduceat(gradients[order], firsts) / counts

    def step(self, centers, candidates, labels, rate=0.3):
        inner, outer = self.inner[centers], self.outer[candidates]
        guess = 1 / (1 + np.exp(-np.einsum("bd,bkd->bk", inner, outer)))
        error = (guess - labels).astype("f4")
        loss = -np.log(np.where(labels == 1, guess, 1 - guess) + 1e-9).sum(axis=1).mean()
        to_inner = np.einsum("bk,bkd->bd", error, outer)
        to_outer = (error[:, :, None] * inner[:, None, :]).reshape(-1, inner.shape[1])
        self.descend(self.inner, centers, to_inner, rate)
        self.descend(self.outer, candidates.ravel(), to_outer, rate)
        return loss


def windows(text, size, rng):
    """Endless batches of a word and a neighbour of it."""
    while True:
        at = rng.integers(3, len(text) - 3, size)
        shift = rng.choice([-3, -2, -1, 1, 2, 3], size)
        yield text[at], text[at + shift]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(5)
    text = np.minimum(rng.zipf(1.3, 200_000), 4000) - 1
    text[1::2] = (text[::2] * 7 + 3) % 4000
    noise = Noise(np.bincount(text, minlength=4000) + 1.0, at_once=asked.fixed)
    vectors = Vectors(4000, 12, rng)
    labels = np.zeros((1024, 11), "f4")
    labels[:, 0] = 1
    for number, (centers, near) in zip(range(200), windows(text, 1024, rng), strict=False):
        far = noise.draw(rng.random((1024, 10)))
        loss = vectors.step(centers, np.column_stack([near, far]), labels)
        if number % 50 == 49:
            print(f"{number + 1}: {loss:.4f}")
        tick()


if __name__ == "__main__":
    main()
