"""Pictures are made noisy and clipped pixel by pixel in Python before each step."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "python-hot-loop", "function": "augment", "framework": "numpy"}

SIZE = 28


def make_pictures(rng, count):
    labels = rng.integers(0, 10, count)
    pictures = rng.random((count, SIZE, SIZE)) * 0.4
    pictures[np.arange(count), labels * 2 + 4] += 0.5
    return pictures, labels


def augment(pictures, noise):
    out = np.empty_like(pictures)
    for n in range(len(pictures)):
        for y in range(SIZE):
            for x in range(SIZE):
                value = pictures[n, y, x] + noise[n, y, x]
                if value < 0:
                    value = 0
                elif value > 1:
                    value = 1
                out[n, y, x] = value
    return out


def augment_at_once(pictures, noise):
    return np.clip(pictures + noise, 0, 1)


class SoftmaxNetwork:
    def __init__(self, rng):
        self.w1 = rng.normal(0, 0.05, (SIZE * SIZE, 1024))
        self.w2 = rng.normal(0, 0.05, (1024, 10))

    def step(self, x, y, rate):
        hidden = np.maximum(x @ self.w1, 0)
        scores = hidden @ self.w2
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        p[np.arange(len(y)), y] -= 1
        p /= len(y)
        d_hidden = (p @ self.w2.T) * (hidden > 0)
        self.w2 -= rate * (hidden.T @ p)
        self.w1 -= rate * (x.T @ d_hidden)
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    change = augment_at_once if parser.parse_args().fixed else augment
    rng = np.random.default_rng(0)
    pictures, labels = make_pictures(rng, 2000)
    network = SoftmaxNetwork(rng)
    for step in range(100):
        indices = rng.integers(0, len(labels), 64)
        noise = rng.normal(0, 0.1, (64, SIZE, SIZE))
        x = change(pictures[indices], noise)
        loss = network.step(x.reshape(64, -1), labels[indices], rate=0.1)
        if step % 20 == 0:
            print(step, round(float(loss), 4))
        tick()


main()
