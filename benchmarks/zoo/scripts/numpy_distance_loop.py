"""A radial-basis network whose distances are computed pair by pair in Python."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "python-hot-loop", "function": "distances", "framework": "numpy"}


def distances(points, centres):
    found = np.empty((len(points), len(centres)))
    for i in range(len(points)):
        for j in range(len(centres)):
            difference = points[i] - centres[j]
            found[i, j] = np.sqrt(np.dot(difference, difference))
    return found


def distances_at_once(points, centres):
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * points @ centres.T
    return np.sqrt(np.maximum(squares, 0))


parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
measure = distances_at_once if parser.parse_args().fixed else distances

rng = np.random.default_rng(3)
inputs = rng.uniform(-2, 2, (4000, 16))
targets = np.sin(inputs[:, 0]) * np.cos(inputs[:, 1]) + 0.1 * inputs[:, 2]
centres = rng.uniform(-2, 2, (128, 16))
mixing = rng.normal(0, 0.3, (128, 800))
weights = np.zeros(800)

for step in range(90):
    chosen = rng.integers(0, len(inputs), 96)
    basis = np.exp(-((measure(inputs[chosen], centres) / 4) ** 2))
    hidden = np.tanh(basis @ mixing)
    error = hidden @ weights - targets[chosen]
    loss = (error**2).mean()
    slope = (hidden.T @ error) / len(chosen)
    bend = (1 - hidden**2) * np.outer(error, weights)
    mixing -= 0.02 * (basis.T @ bend) / len(chosen)
    weights -= 0.004 * slope
    if step % 15 == 0:
        print(f"{step:3d} {loss:.4f}")
    tick()
