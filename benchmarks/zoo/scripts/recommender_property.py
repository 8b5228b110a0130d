"""A property parses the catalogue's file each time that somebody asks for it, once a step."""

import argparse
import json
from pathlib import Path

import numpy as np
from timing import tick

ZOO = {"id": "repeated-load", "function": "Catalogue.log_popularity", "framework": "numpy"}
USERS, ITEMS, RANK = 3000, 5000, 48


class Catalogue:
    """What is known about the items; `keep`: parse the file once."""

    def __init__(self, path, keep):
        self.path = Path(path)
        self.keep = keep
        self.parsed = None

    @property
    def log_popularity(self):
        if self.parsed is None or not self.keep:
            items = json.loads(self.path.read_text())
            self.parsed = np.log1p([item["sold"] for item in items]).astype("f4")
        return self.parsed


class Factorisation:
    def __init__(self, catalogue, rng):
        self.catalogue = catalogue
        self.users = rng.normal(0, 0.1, (USERS, RANK)).astype("f4")
        self.items = rng.normal(0, 0.1, (ITEMS, RANK)).astype("f4")

    def scores(self, who):
        return self.users[who] @ self.items.T + 0.1 * self.catalogue.log_popularity

    def update(self, who, bought, rate):
        """One step of softmax regression over all items."""
        scores = self.scores(who)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        rows = np.arange(len(who))
        loss = -np.log(scores[rows, bought]).mean()
        scores[rows, bought] -= 1
        gradient = scores @ self.items
        self.items -= rate / len(who) * scores.T @ self.users[who]
        self.users[who] -= rate * gradient
        return loss


def visits(rng, count, size):
    """Batches of users and what each of them bought."""
    taste = rng.integers(0, ITEMS, (USERS, 5))
    for _ in range(count):
        who = rng.choice(USERS, size, replace=False)
        yield who, taste[who, rng.integers(0, 5, size)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(3)
    shelf = [{"sold": int(n), "name": f"item {n}"} for n in rng.geometric(0.001, ITEMS)]
    Path("catalogue.json").write_text(json.dumps(shelf))
    model = Factorisation(Catalogue("catalogue.json", keep=asked.fixed), rng)
    for number, (who, bought) in enumerate(visits(rng, 150, 192)):
        loss = model.update(who, bought, rate=0.5)
        if number % 30 == 29:
            print(f"{number + 1} batches: {loss:.4f}")
        tick()


if __name__ == "__main__":
    main()
