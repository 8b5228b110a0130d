"""Training steps of about 3 ms in NumPy: what `stepscope run` is made for."""

import numpy as np
from timing import measure, profile

rng = np.random.default_rng(0)
images = rng.normal(size=(4096, 784)).astype(np.float32)
labels = rng.integers(0, 10, size=4096)
w1 = (rng.normal(size=(784, 256)) * 0.05).astype(np.float32)
w2 = (rng.normal(size=(256, 10)) * 0.05).astype(np.float32)


@profile
def softmax(scores):
    scores = scores - scores.max(axis=1, keepdims=True)
    exp = np.exp(scores)
    return exp / exp.sum(axis=1, keepdims=True)


@profile
def step():
    chosen = rng.integers(0, len(images), size=288)
    x = images[chosen]
    hidden = np.maximum(x @ w1, 0)
    d_scores = softmax(hidden @ w2)
    d_scores[np.arange(len(x)), labels[chosen]] -= 1
    d_scores /= len(x)
    d_hidden = d_scores @ w2.T
    d_hidden[hidden <= 0] = 0
    d_w1 = x.T @ d_hidden
    d_w2 = hidden.T @ d_scores
    np.subtract(w1, 0.01 * d_w1, out=w1)
    np.subtract(w2, 0.01 * d_w2, out=w2)


if __name__ == "__main__":
    measure(step, rounds=400)
