"""Train a small network on the digits, in plain NumPy.

It learns, and it is slow. Find out why:  stepscope run examples/mnist_numpy/train.py
"""

import argparse
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent.parent / "data" / "digits.npz"


def get_dataset(path):
    """All pictures, one a row, and their labels."""
    with np.load(path) as data:
        images = data["images"]
        labels = data["labels"]
    return images.reshape(len(images), -1), labels


def get_batch(path, indices):
    images, labels = get_dataset(path)
    return images[indices].astype(np.float32) / 255, labels[indices]


class Network:
    """Two layers: 784 inputs, one hidden layer, 10 classes."""

    def __init__(self, hidden, rng):
        self.w1 = rng.normal(0, np.sqrt(2 / 784), (784, hidden)).astype(np.float32)
        self.b1 = np.zeros(hidden, dtype=np.float32)
        self.w2 = rng.normal(0, np.sqrt(2 / hidden), (hidden, 10)).astype(np.float32)
        self.b2 = np.zeros(10, dtype=np.float32)

    def forward(self, x):
        self.x = x
        self.hidden = np.maximum(x @ self.w1 + self.b1, 0)
        scores = self.hidden @ self.w2 + self.b2
        scores -= scores.max(axis=1, keepdims=True)
        exp = np.exp(scores)
        self.probabilities = exp / exp.sum(axis=1, keepdims=True)
        return self.probabilities

    def loss(self, labels):
        right = self.probabilities[np.arange(len(labels)), labels]
        return -np.log(right + 1e-9).mean()

    def backward(self, labels):
        d_scores = self.probabilities.copy()
        d_scores[np.arange(len(labels)), labels] -= 1
        d_scores /= len(labels)
        d_hidden = d_scores @ self.w2.T
        d_hidden[self.hidden <= 0] = 0
        return (
            self.x.T @ d_hidden,
            d_hidden.sum(axis=0),
            self.hidden.T @ d_scores,
            d_scores.sum(axis=0),
        )

    def update(self, gradients, rate):
        parameters = (self.w1, self.b1, self.w2, self.b2)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter -= rate * gradient


def accuracy(network, path, count):
    images, labels = get_batch(path, np.arange(count))
    return (network.forward(images).argmax(axis=1) == labels).mean()


def train(arguments):
    rng = np.random.default_rng(0)
    network = Network(arguments.hidden, rng)
    count = len(get_dataset(arguments.data)[1])
    for step in range(arguments.steps):
        indices = rng.integers(0, count, size=arguments.batch)
        images, labels = get_batch(arguments.data, indices)
        network.forward(images)
        loss = network.loss(labels)
        network.update(network.backward(labels), arguments.rate)
        if step % 10 == 0 or step == arguments.steps - 1:
            print(f"step {step:3d}  loss {loss:.3f}")
    print(f"accuracy {accuracy(network, arguments.data, min(count, 5000)):.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--rate", type=float, default=0.2)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
