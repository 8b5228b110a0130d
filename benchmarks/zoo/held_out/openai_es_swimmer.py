"""Evolution strategies (Salimans et al. 2017) for a chain of joints; NumPy only.

All members of the population are simulated together: one batched product per layer and moment.
"""

import argparse
from time import perf_counter

import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "numpy"}

JOINTS, HIDDEN, MOMENTS, PAIRS = 6, 32, 20, 160
SIZES = [(2 * JOINTS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, JOINTS)]
LENGTH = sum(a * b for a, b in SIZES)


def unpack(genomes):
    """Weight matrices of each member: (members, inputs, outputs)."""
    weights, start = [], 0
    for rows, columns in SIZES:
        end = start + rows * columns
        weights.append(np.ascontiguousarray(genomes[:, start:end]).reshape(-1, rows, columns))
        start = end
    return weights


def rollout(genomes, begin):
    """How far each member gets, over several starting positions at once."""
    first, second, third = unpack(genomes)
    angles = np.repeat(begin[None], len(genomes), axis=0)
    speeds = np.zeros_like(angles)
    distance = np.zeros(angles.shape[:2], np.float32)
    for _ in range(MOMENTS):
        seen = np.concatenate([angles, speeds], axis=2)
        hidden = np.tanh(seen @ first)
        hidden = np.tanh(hidden @ second)
        torque = np.tanh(hidden @ third)
        speeds = np.float32(0.9) * speeds + np.float32(0.2) * (torque - np.float32(0.3) * angles)
        angles = angles + np.float32(0.3) * speeds
        wave = angles[..., 1:] * speeds[..., :-1] - angles[..., :-1] * speeds[..., 1:]
        distance += wave.sum(axis=2) - np.float32(0.05) * (torque**2).sum(axis=2)
    return distance.mean(axis=1)


def centred_ranks(scores):
    ranks = np.empty(len(scores), np.float32)
    ranks[scores.argsort()] = np.arange(len(scores), dtype=np.float32)
    return ranks / (len(scores) - 1) - np.float32(0.5)


class Adam:
    def __init__(self, size, rate):
        self.m, self.v = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.rate, self.t = np.float32(rate), 0

    def move(self, gradient):
        self.t += 1
        self.m += np.float32(0.1) * (gradient - self.m)
        self.v += np.float32(0.001) * (gradient**2 - self.v)
        m, v = self.m / np.float32(1 - 0.9**self.t), self.v / np.float32(1 - 0.999**self.t)
        return self.rate * m / (np.sqrt(v) + np.float32(1e-8))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--generations", type=int, default=300)
    parser.add_argument("--sigma", type=float, default=0.1)
    parser.add_argument("--fixed", action="store_true", help="nothing happens")
    args = parser.parse_args()
    rng = np.random.default_rng(12)
    sigma = np.float32(args.sigma)
    parent = rng.standard_normal(LENGTH, dtype=np.float32) * np.float32(0.2)
    adam = Adam(LENGTH, rate=0.03)
    start = perf_counter()
    for generation in range(1, args.generations + 1):
        noise = rng.standard_normal((PAIRS, LENGTH), dtype=np.float32)
        noise = np.concatenate([noise, -noise])
        begin = rng.standard_normal((8, JOINTS), dtype=np.float32)
        scores = rollout(parent + sigma * noise, begin)
        gradient = centred_ranks(scores) @ noise / (len(noise) * sigma)
        parent = parent + adam.move(gradient)
        if generation % 60 == 0:
            positions = rng.standard_normal((64, JOINTS), dtype=np.float32)
            parent_score = rollout(parent[None], positions)[0]
            ms = 1000 * (perf_counter() - start) / generation
            print(
                f"generation {generation:3d}  mean {scores.mean():7.2f}  best {scores.max():7.2f}"
                f"  parent {parent_score:7.2f}  {ms:.1f} ms"
            )
        tick()


if __name__ == "__main__":
    main()
