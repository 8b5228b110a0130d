"""A network for tables in NumPy: only thirty steps, each with very many rows."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "numpy"}


class Dense:
    def __init__(self, rows, columns, rng):
        self.weights = rng.normal(0, np.sqrt(2 / rows), (rows, columns)).astype("f4")

    def forward(self, x):
        self.x = x
        return x @ self.weights

    def backward(self, gradient, rate):
        onward = gradient @ self.weights.T
        self.weights -= rate * (self.x.T @ gradient)
        return onward


class Clip:
    """Nothing below zero."""

    def forward(self, x):
        self.open = x > 0
        return x * self.open

    def backward(self, gradient, rate):
        return gradient * self.open


def fit(layers, x, y, steps, rate):
    """Yields the loss after each step over all rows."""
    for _ in range(steps):
        out = x
        for layer in layers:
            out = layer.forward(out)
        error = out - y
        gradient = 2 * error / len(y)
        for layer in reversed(layers):
            gradient = layer.backward(gradient, rate)
        yield float((error**2).mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    rng = np.random.default_rng(22)
    x = rng.normal(size=(10_000, 90)).astype("f4")
    y = np.maximum(x[:, :1], x[:, 1:2])
    layers = [Dense(90, 192, rng), Clip(), Dense(192, 192, rng), Clip(), Dense(192, 1, rng)]
    for number, loss in enumerate(fit(layers, x, y, steps=30, rate=0.05), start=1):
        if number % 10 == 0:
            print(f"{number}: {loss:.3f}")
        tick()


if __name__ == "__main__":
    main()
