"""An ensemble is trained in eight threads, each of which lets BLAS start its own."""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
FIXED = parser.parse_args().fixed
os.environ["OPENBLAS_NUM_THREADS"] = "1" if FIXED else "16"
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"]

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from timing import tick

ZOO = {"id": "thread-oversubscription", "function": None, "framework": "numpy"}

MEMBERS = 8


class Member:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.w1 = rng.normal(0, 0.1, (96, 192)).astype(np.float32)
        self.w2 = rng.normal(0, 0.1, (192, 1)).astype(np.float32)

    def learn(self, x, y):
        hidden = np.maximum(x @ self.w1, 0)
        error = hidden @ self.w2 - y
        d_hidden = (error @ self.w2.T) * (hidden > 0)
        self.w2 -= 0.01 * hidden.T @ error / len(x)
        self.w1 -= 0.01 * x.T @ d_hidden / len(x)
        return float((error**2).mean())


def main():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(4000, 96)).astype(np.float32)
    targets = np.sin(inputs[:, :3].sum(axis=1, keepdims=True)).astype(np.float32)
    ensemble = [Member(seed) for seed in range(MEMBERS)]
    cores = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(cores if FIXED else MEMBERS) as pool:
        for step in range(400):
            batch = rng.integers(0, 4000, 256)
            x, y = inputs[batch], targets[batch]
            losses = list(pool.map(lambda member: member.learn(x, y), ensemble))
            if step % 100 == 0:
                print(f"step {step}: {np.mean(losses):.4f}")
            tick()


if __name__ == "__main__":
    main()
