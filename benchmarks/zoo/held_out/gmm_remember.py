"""A decorator remembers what each batch was whitened to, although no batch comes back."""

import argparse
import functools

import numpy as np
from timing import tick

ZOO = {
    "id": "memory-growth",
    "function": ["remember.<locals>.known", "known", "whitened"],
    "framework": "numpy",
}


def remember(limit):
    """Like functools.cache, for arrays."""

    def decorate(function):
        results = {}

        @functools.wraps(function)
        def known(batch, *rest):
            key = batch.tobytes()
            if key not in results:
                while limit and len(results) >= limit:
                    results.pop(next(iter(results)))
                results[key] = function(batch, *rest)
            return results[key]

        return known

    return decorate


def whitened(batch, mixing):
    return np.linalg.solve(mixing, batch.T).T


class Mixture:
    """Gaussians with a spread per axis, learned online."""

    def __init__(self, parts, size, rng):
        self.middles = rng.normal(0, 2, (parts, size))
        self.variances = np.ones((parts, size))
        self.shares = np.full(parts, 1 / parts)

    def responsibilities(self, x):
        precise = 1 / self.variances
        far = x**2 @ precise.T - 2 * x @ (self.middles * precise).T
        far += (self.middles**2 * precise + np.log(self.variances)).sum(axis=1)
        scores = np.log(self.shares) - far / 2
        top = scores.max(axis=1, keepdims=True)
        weights = np.exp(scores - top)
        total = weights.sum(axis=1, keepdims=True)
        return weights / total, (top + np.log(total)).mean()

    def learn(self, x, rate):
        weights, fit = self.responsibilities(x)
        mass = weights.sum(axis=0)[:, None] + 1e-3
        middles = weights.T @ x / mass
        variances = weights.T @ x**2 / mass - middles**2 + 1e-2
        self.middles += rate * (middles - self.middles)
        self.variances += rate * (variances - self.variances)
        self.shares += rate * (mass[:, 0] / mass.sum() - self.shares)
        return fit


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(20)
    prepare = remember(limit=4 if asked.fixed else None)(whitened)
    mixing = np.eye(40) + rng.normal(0, 0.05, (40, 40))
    truth = rng.normal(0, 2, (30, 40))
    model = Mixture(30, 40, rng)
    for number in range(1, 241):
        batch = (truth[rng.integers(0, 30, 3000)] + rng.normal(size=(3000, 40))) @ mixing.T
        fit = model.learn(prepare(batch, mixing), rate=0.1)
        if number % 60 == 0:
            print(f"{number}: {fit:.3f}")
        tick()


if __name__ == "__main__":
    main()
