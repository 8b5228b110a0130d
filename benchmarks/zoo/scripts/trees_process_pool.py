"""Bagged regression trees: each round, a pool of processes grows one tree for each of its members."""

import argparse
import multiprocessing

import numpy as np
from timing import tick

ZOO = {
    "id": "python-hot-loop",
    "function": ["best_split", "spread_by_hand", "grow"],
    "framework": "numpy",
}


def spread_by_hand(values):
    mean = sum(values) / len(values)
    total = 0.0
    for value in values:
        total += (value - mean) * (value - mean)
    return total


def best_split(column, target, fast):
    best = (np.inf, 0.0)
    for border in np.quantile(column, np.linspace(0.1, 0.9, 9)):
        left, right = target[column <= border], target[column > border]
        if len(left) < 5 or len(right) < 5:
            continue
        if fast:
            cost = left.var() * len(left) + right.var() * len(right)
        else:
            cost = spread_by_hand(left.tolist()) + spread_by_hand(right.tolist())
        best = min(best, (cost, border))
    return best


def grow(x, y, depth, fast):
    if depth == 0 or len(y) < 20:
        return y.mean()
    splits = [(*best_split(x[:, at], y, fast), at) for at in range(x.shape[1])]
    cost, border, at = min(splits)
    if not np.isfinite(cost):
        return y.mean()
    is_left = x[:, at] <= border
    return (
        at,
        border,
        grow(x[is_left], y[is_left], depth - 1, fast),
        grow(x[~is_left], y[~is_left], depth - 1, fast),
    )


def predicted(tree, row):
    while isinstance(tree, tuple):
        at, border, left, right = tree
        tree = left if row[at] <= border else right
    return tree


def fit_member(job):
    seed, x, y, fast = job
    rows = np.random.default_rng(seed).integers(0, len(x), len(x))
    return grow(x[rows], y[rows], 4, fast)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(11)
    x = rng.normal(size=(700, 6))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=700)
    left = y.copy()
    with multiprocessing.Pool(2) as pool:
        for number in range(40):
            jobs = [(4 * number + member, x, left, asked.fixed) for member in range(4)]
            trees = pool.map(fit_member, jobs)
            guess = np.mean([[predicted(tree, row) for row in x] for tree in trees], axis=0)
            left -= 0.3 * guess
            if number % 10 == 9:
                print(f"round {number + 1}: {np.mean(left**2):.4f}")
            tick()


if __name__ == "__main__":
    main()
