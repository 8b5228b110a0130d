"""My own little deep learning library: layers, a loss, and momentum, in plain NumPy."""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from timing import tick

ZOO = {
    "id": "float64-compute",
    "function": ["Dense.__init__", "Dense.forward", "Dense.backward", "load", "main"],
    "framework": "numpy",
}


class Dense:
    def __init__(self, n_in, n_out, rng, dtype):
        self.W = (rng.standard_normal((n_in, n_out)) * np.sqrt(2 / n_in)).astype(dtype)
        self.b = np.zeros(n_out, dtype)
        self.dW, self.db = np.zeros_like(self.W), np.zeros_like(self.b)

    def forward(self, X):
        self.X = X
        return X @ self.W + self.b

    def backward(self, dY):
        self.dW[...] = self.X.T @ dY
        self.db[...] = dY.sum(axis=0)
        return dY @ self.W.T


class ReLU:
    def forward(self, X):
        self.mask = X > 0
        return X * self.mask

    def backward(self, dY):
        return dY * self.mask


class SoftmaxCrossEntropy:
    def forward(self, logits, labels):
        shifted = logits - logits.max(axis=1, keepdims=True)
        exps = np.exp(shifted)
        self.probs, self.labels = exps / exps.sum(axis=1, keepdims=True), labels
        return -np.log(self.probs[np.arange(len(labels)), labels] + 1e-9).mean()

    def backward(self):
        grad = self.probs.copy()
        grad[np.arange(len(grad)), self.labels] -= 1
        grad /= len(grad)
        return grad


class Sequential:
    def __init__(self, *layers):
        self.layers = layers

    def forward(self, X):
        for layer in self.layers:
            X = layer.forward(X)
        return X

    def backward(self, grad):
        for layer in reversed(self.layers):
            grad = layer.backward(grad)

    def params(self):
        dense = [layer for layer in self.layers if isinstance(layer, Dense)]
        return [pair for d in dense for pair in ((d.W, d.dW), (d.b, d.db))]


class Momentum:
    def __init__(self, params, lr=0.02, beta=0.9):
        self.params, self.lr, self.beta = params, lr, beta
        self.speeds = [np.zeros_like(p) for p, _ in params]

    def step(self):
        for (p, g), v in zip(self.params, self.speeds, strict=True):
            v *= self.beta
            v += g
            p -= self.lr * v


def load(dtype):
    """Digits, and the products of neighbouring pixels as further features."""
    X, y = load_digits(return_X_y=True)
    X = (X - 8) / 8
    X = np.hstack([X, X * np.roll(X, 1, axis=1), X * np.roll(X, 8, axis=1)])
    return X.astype(dtype), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="float32")
    args = parser.parse_args()
    dtype = np.float32 if args.fixed else np.float64
    rng = np.random.default_rng(0)
    X, y = load(dtype)
    first, second = Dense(192, 512, rng, dtype), Dense(512, 512, rng, dtype)
    net = Sequential(first, ReLU(), second, ReLU(), Dense(512, 10, rng, dtype))
    criterion, optimizer = SoftmaxCrossEntropy(), Momentum(net.params())
    t0, step = time.time(), 0
    for epoch in range(40):
        order = rng.permutation(len(X))
        for i in range(0, len(X) - 255, 256):
            rows = order[i : i + 256]
            loss = criterion.forward(net.forward(X[rows]), y[rows])
            net.backward(criterion.backward())
            optimizer.step()
            step += 1
            tick()
        if (epoch + 1) % 10 == 0:
            ms = 1000 * (time.time() - t0) / step
            print(f"epoch {epoch + 1}, loss {loss:.4f}, {ms:.1f} ms/step")


if __name__ == "__main__":
    main()
