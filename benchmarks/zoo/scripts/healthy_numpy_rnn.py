"""A recurrent network in NumPy: its loop over time is the algorithm, and no fault."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "numpy"}

TIME, BATCH, INPUTS, HIDDEN = 40, 256, 16, 192


class Recurrent:
    def __init__(self, rng):
        self.wx = rng.normal(0, 0.2, (INPUTS, HIDDEN)).astype(np.float32)
        self.wh = (np.eye(HIDDEN) * 0.9 + rng.normal(0, 0.01, (HIDDEN, HIDDEN))).astype(np.float32)
        self.wy = rng.normal(0, 0.1, (HIDDEN, 1)).astype(np.float32)

    def forward(self, sequence):
        self.states = [np.zeros((BATCH, HIDDEN), dtype=np.float32)]
        for x in sequence:
            self.states.append(np.tanh(x @ self.wx + self.states[-1] @ self.wh))
        return self.states[-1] @ self.wy

    def backward(self, sequence, d_out):
        d_wx, d_wh = np.zeros_like(self.wx), np.zeros_like(self.wh)
        d_wy = self.states[-1].T @ d_out
        d_state = d_out @ self.wy.T
        for t in reversed(range(TIME)):
            d_raw = d_state * (1 - self.states[t + 1] ** 2)
            d_wx += sequence[t].T @ d_raw
            d_wh += self.states[t].T @ d_raw
            d_state = d_raw @ self.wh.T
        return d_wx, d_wh, d_wy


def make_batch(rng):
    """Was the first channel's mean above zero?"""
    sequence = rng.normal(size=(TIME, BATCH, INPUTS)).astype(np.float32)
    sequence[:, :, 0] += rng.normal(size=BATCH).astype(np.float32) * 0.5
    return sequence, np.tanh(sequence[:, :, :1].mean(axis=0) * 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    rng = np.random.default_rng(0)
    model = Recurrent(rng)
    for step in range(100):
        sequence, target = make_batch(rng)
        error = model.forward(sequence) - target
        gradients = model.backward(sequence, error / BATCH)
        norm = np.sqrt(sum(float((g**2).sum()) for g in gradients))
        rate = 0.02 * min(1, 1 / norm)
        for weight, gradient in zip((model.wx, model.wh, model.wy), gradients, strict=True):
            weight -= rate * gradient
        if step % 20 == 0:
            print(f"step {step} loss {(error**2).mean():.4f}")
        tick()


if __name__ == "__main__":
    main()
