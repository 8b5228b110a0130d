"""All hidden activations of all steps are kept in a list that nobody reads."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "memory-growth", "function": "Network.forward", "framework": "numpy"}


class Network:
    def __init__(self, rng, remember):
        self.w1 = rng.normal(0, 0.05, (400, 600)).astype(np.float32)
        self.w2 = rng.normal(0, 0.05, (600, 1)).astype(np.float32)
        self.remember = remember
        self.history = []

    def forward(self, x):
        self.x = x
        self.hidden = np.maximum(x @ self.w1, 0)
        if self.remember:
            self.history.append(self.hidden.copy())
        return self.hidden @ self.w2

    def backward(self, error):
        d_hidden = (error @ self.w2.T) * (self.hidden > 0)
        return self.x.T @ d_hidden, self.hidden.T @ error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    network = Network(rng := np.random.default_rng(0), remember=not parser.parse_args().fixed)
    inputs = rng.normal(size=(6000, 400)).astype(np.float32)
    targets = np.tanh(inputs[:, :5].sum(axis=1, keepdims=True)).astype(np.float32)
    for step in range(150):
        batch = rng.integers(0, 6000, 1500)
        error = network.forward(inputs[batch]) - targets[batch]
        d1, d2 = network.backward(error / len(batch))
        network.w1 -= 0.05 * d1
        network.w2 -= 0.05 * d2
        if step % 30 == 0:
            print(step, float((error**2).mean()))
        tick()


if __name__ == "__main__":
    main()
