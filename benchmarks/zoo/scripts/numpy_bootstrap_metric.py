"""A bootstrap interval of the batch accuracy is computed in every step and printed now and then."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "host-code", "function": "accuracy_interval", "framework": "numpy"}


def accuracy_interval(right, rng, resamples=1500):
    """2.5 % and 97.5 % of the accuracy over resamples of the batch."""
    picks = rng.integers(0, len(right), (resamples, len(right)))
    return np.percentile(right[picks].mean(axis=1), [2.5, 97.5])


class Classifier:
    def __init__(self, rng):
        self.hidden_weights = rng.normal(0, 0.06, (300, 500))
        self.output_weights = rng.normal(0, 0.06, (500, 8))

    def __call__(self, x):
        self.x = x
        self.h = np.tanh(x @ self.hidden_weights)
        z = self.h @ self.output_weights
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def learn(self, p, y, rate):
        d = p.copy()
        d[np.arange(len(y)), y] -= 1
        d /= len(y)
        dh = (d @ self.output_weights.T) * (1 - self.h**2)
        self.output_weights -= rate * self.h.T @ d
        self.hidden_weights -= rate * self.x.T @ dh


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    rng = np.random.default_rng(11)
    y = rng.integers(0, 8, 4000)
    x = rng.normal(size=(8, 300))[y] * 0.4 + rng.normal(size=(4000, 300))
    model = Classifier(rng)
    for epoch in range(8):
        for start in range(0, 4000, 400):
            batch = slice(start, start + 400)
            p = model(x[batch])
            model.learn(p, y[batch], rate=0.2)
            right = p.argmax(axis=1) == y[batch]
            if not arguments.fixed or start == 3600:
                low, high = accuracy_interval(right, rng)
            tick()
        loss = -np.log(p[np.arange(400), y[batch]]).mean()
        print(f"epoch {epoch} loss {loss:.3f} accuracy between {low:.1%} and {high:.1%}")


if __name__ == "__main__":
    main()
