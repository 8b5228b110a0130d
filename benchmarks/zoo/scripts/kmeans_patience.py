"""Mini-batch k-means that stops early: it looks at all validation points after every batch."""

import argparse

import numpy as np
from timing import tick

ZOO = {
    "id": "evaluation-stall",
    "function": ["Patience.exhausted", "KMeans.inertia"],
    "framework": "numpy",
}


class KMeans:
    def __init__(self, centers):
        self.centers = centers
        self.counts = np.ones(len(centers))

    def nearest(self, points):
        """The number of the nearest center of each point, and the squared distance to it."""
        crossed = points @ self.centers.T
        squared = (self.centers**2).sum(axis=1) - 2 * crossed
        best = squared.argmin(axis=1)
        return best, squared[np.arange(len(points)), best] + (points**2).sum(axis=1)

    def learn(self, points):
        best, _ = self.nearest(points)
        sums = np.zeros_like(self.centers)
        np.add.at(sums, best, points)
        counts = np.bincount(best, minlength=len(self.centers))
        self.counts += counts
        self.centers += (sums - counts[:, None] * self.centers) / self.counts[:, None]

    def inertia(self, points):
        return self.nearest(points)[1].mean()


class Patience:
    """Says when nothing gets better any more."""

    def __init__(self, points, every, limit=2000):
        self.points, self.every, self.limit = points, every, limit
        self.best, self.since, self.asked = np.inf, 0, 0

    def exhausted(self, model):
        self.asked += 1
        if self.asked % self.every:
            return False
        inertia = model.inertia(self.points)
        self.since = 0 if inertia < self.best - 1e-4 else self.since + self.every
        self.best = min(self.best, inertia)
        return self.since >= self.limit


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(8)
    truth = rng.normal(size=(120, 32)) * 2
    points = truth[rng.integers(0, 120, 40_000)] + rng.normal(size=(40_000, 32))
    train, rest = points[6000:], points[:6000]
    model = KMeans(train[rng.choice(len(train), 120, replace=False)].copy())
    patience = Patience(rest, every=50 if asked.fixed else 1)
    seen = 0
    while seen < 200 and not patience.exhausted(model):
        model.learn(train[rng.integers(0, len(train), 3000)])
        seen += 1
        tick()
    print(f"{seen} batches, inertia {model.inertia(rest):.4f}")


if __name__ == "__main__":
    main()
