"""Restricted Boltzmann machine on the digits: contrastive divergence, more Gibbs steps later on."""

import argparse

import numpy as np
from sklearn.datasets import load_digits
from timing import tick

ZOO = {"id": None, "function": None, "framework": "numpy"}


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


class RBM:
    def __init__(self, visible, hidden, rng):
        self.rng = rng
        self.w = 0.05 * rng.normal(size=(visible, hidden))
        self.a = np.zeros(visible)
        self.b = np.zeros(hidden)
        self.speed = [np.zeros_like(p) for p in (self.w, self.a, self.b)]

    def hidden(self, v):
        p = sigmoid(v @ self.w + self.b)
        return p, (self.rng.random(p.shape) < p).astype(float)

    def visible(self, h):
        return sigmoid(h @ self.w.T + self.a)

    def update(self, v0, gibbs, lr, momentum=0.8, decay=1e-4):
        p0, h = self.hidden(v0)
        for _ in range(gibbs):
            v = self.visible(h)
            p, h = self.hidden(v)
        n = len(v0)
        grads = (
            (v0.T @ p0 - v.T @ p) / n - decay * self.w,
            (v0 - v).mean(axis=0),
            (p0 - p).mean(axis=0),
        )
        for parameter, speed, grad in zip((self.w, self.a, self.b), self.speed, grads, strict=True):
            speed *= momentum
            speed += lr * grad
            parameter += speed
        return np.square(v0 - v).mean()

    def free_energy(self, v):
        return -(v @ self.a) - np.logaddexp(0, v @ self.w + self.b).sum(axis=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="changes nothing here")
    parser.add_argument("--epochs", type=int, default=36)
    parser.add_argument("--hidden", type=int, default=1024)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    images = load_digits().data / 16.0
    rng.shuffle(images)
    train, test = images[:1536], images[1536:]
    rbm = RBM(train.shape[1], args.hidden, rng)
    for epoch in range(args.epochs):
        gibbs = 1 + epoch // 12
        errors = []
        for rows in rng.permutation(len(train)).reshape(-1, 96):
            errors.append(rbm.update(train[rows], gibbs, lr=0.1))
            if len(errors) % 8 == 0:
                print(f"  batch {len(errors)}: reconstruction {errors[-1]:.4f}")
            tick()
        gap = rbm.free_energy(test).mean() - rbm.free_energy(train[: len(test)]).mean()
        print(f"epoch {epoch} CD-{gibbs}: error {np.mean(errors):.4f}, free energy gap {gap:.2f}")


if __name__ == "__main__":
    main()
