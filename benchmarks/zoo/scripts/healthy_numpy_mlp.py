"""A network in NumPy as it should be: data in memory, whole batches, little talk."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "numpy"}


def relu(x):
    return np.maximum(x, 0)


def make_data(rng, count):
    centres = rng.normal(size=(10, 256))
    labels = rng.integers(0, 10, count)
    return (centres[labels] + 2 * rng.normal(size=(count, 256))).astype(np.float32), labels


class Network:
    def __init__(self, sizes, rng):
        pairs = list(zip(sizes, sizes[1:], strict=False))
        self.weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairs]
        self.biases = [np.zeros(b, dtype=np.float32) for _, b in pairs]

    def forward(self, x):
        self.activations = [x]
        for w, b in zip(self.weights[:-1], self.biases[:-1], strict=True):
            self.activations.append(relu(self.activations[-1] @ w + b))
        scores = self.activations[-1] @ self.weights[-1] + self.biases[-1]
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def backward(self, p, labels, rate):
        d = p.copy()
        d[np.arange(len(labels)), labels] -= 1
        d /= len(labels)
        for layer in reversed(range(len(self.weights))):
            x = self.activations[layer]
            d_weights, d_bias = x.T @ d, d.sum(axis=0)
            d = (d @ self.weights[layer].T) * (x > 0)
            self.weights[layer] -= rate * d_weights
            self.biases[layer] -= rate * d_bias


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    rng = np.random.default_rng(0)
    x, y = make_data(rng, 12_000)
    network = Network([256, 512, 256, 10], rng)
    batch = 512
    for epoch in range(6):
        order = rng.permutation(10_752)
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            p = network.forward(x[chosen])
            loss = -np.log(p[np.arange(len(chosen)), y[chosen]] + 1e-9).mean()
            network.backward(p, y[chosen], rate=0.05)
            tick()
        right = network.forward(x[10_752:]).argmax(axis=1) == y[10_752:]
        print(f"epoch {epoch} loss {loss:.3f} accuracy {right.mean():.1%}")


if __name__ == "__main__":
    main()
