"""Garbage is collected by hand every fifteen steps, with half a million annotations to walk."""

import argparse
import gc

import numpy as np
from timing import tick

ZOO = {"id": "slow-outlier-steps", "function": "train", "framework": "numpy"}

CLASSES = 12


def make_annotations(rng, count):
    """One dictionary a box, as they come from an annotation file."""
    labels = rng.integers(0, CLASSES, count).tolist()
    return [{"id": i, "label": label, "box": [i, i, 8, 8]} for i, label in enumerate(labels)]


class Network:
    def __init__(self, rng):
        self.w1 = rng.normal(0, 0.1, (96, 384)).astype(np.float32)
        self.w2 = rng.normal(0, 0.05, (384, CLASSES)).astype(np.float32)

    def learn(self, x, y, rate):
        hidden = np.maximum(x @ self.w1, 0)
        scores = hidden @ self.w2
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        p[np.arange(len(y)), y] -= 1
        p /= len(y)
        d_hidden = (p @ self.w2.T) * (hidden > 0)
        self.w2 -= rate * (hidden.T @ p)
        self.w1 -= rate * (x.T @ d_hidden)
        return loss


def train(collect_every, steps=120):
    rng = np.random.default_rng(0)
    annotations = make_annotations(rng, 250_000)
    centres = rng.normal(size=(CLASSES, 96)).astype(np.float32)
    network = Network(rng)
    for step in range(steps):
        chosen = [annotations[i] for i in rng.integers(0, len(annotations), 512)]
        y = np.array([each["label"] for each in chosen])
        x = centres[y] + 2 * rng.standard_normal((512, 96), dtype=np.float32)
        loss = network.learn(x, y, rate=0.05)
        if collect_every and step % collect_every == collect_every - 1:
            gc.collect()
        if step % 30 == 0:
            print(f"step {step} loss {loss:.3f}")
        tick()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    train(collect_every=0 if parser.parse_args().fixed else 15)
