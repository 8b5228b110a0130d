"""Makes its data in a loop of long turns, then trains in NumPy; a table closes it."""

import time

import numpy as np


def make_data() -> list[np.ndarray]:
    made = []
    for seed in range(40):
        time.sleep(0.002)
        made.append(np.full(4, seed, float))
    return made


def train(data: list[np.ndarray]) -> list[float]:
    weights, losses = np.zeros(4), []
    for step in range(60):
        time.sleep(0.004)
        weights += 0.01 * (data[step % len(data)] - weights)
        losses.append(float(np.square(weights).sum()))
    return losses


losses = train(make_data())
print(f"first {losses[0]:.4f}, last {losses[-1]:.4f}")
