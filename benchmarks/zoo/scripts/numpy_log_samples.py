"""Every sample's probabilities are formatted into a log file in every step."""

import argparse
import logging

import numpy as np
from timing import tick

ZOO = {"id": "logging-stall", "function": "log_predictions", "framework": "numpy"}

log = logging.getLogger("train")


def log_predictions(step, probabilities, labels):
    for sample, (row, label) in enumerate(zip(probabilities, labels, strict=True)):
        log.info("step %d sample %d label %d probabilities %s", step, sample, label, row)


def forward(x, weights):
    activations = [x]
    for w in weights[:-1]:
        activations.append(np.maximum(activations[-1] @ w, 0))
    scores = activations[-1] @ weights[-1]
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return activations, p / p.sum(axis=1, keepdims=True)


def backward(activations, p, y, weights):
    d = p.copy()
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    gradients = []
    for activation, w in zip(reversed(activations), reversed(weights), strict=True):
        gradients.append(activation.T @ d)
        d = (d @ w.T) * (activation > 0)
    return gradients[::-1]


def main(fixed):
    logging.basicConfig(filename="train.log", level=logging.INFO, format="%(asctime)s %(message)s")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 5000)
    inputs = (rng.normal(size=(10, 256))[labels] + rng.normal(size=(5000, 256))).astype(np.float32)
    sizes = [256, 512, 512, 10]
    weights = [
        (rng.normal(size=pair) * np.sqrt(1 / pair[0])).astype(np.float32)
        for pair in zip(sizes, sizes[1:], strict=False)
    ]
    for step in range(100):
        batch = rng.integers(0, len(labels), 256)
        activations, p = forward(inputs[batch], weights)
        loss = -np.log(p[np.arange(256), labels[batch]] + 1e-9).mean()
        for w, g in zip(weights, backward(activations, p, labels[batch], weights), strict=True):
            w -= 0.05 * g
        if fixed:
            log.info("step %d loss %.4f", step, loss)
        else:
            log_predictions(step, p, labels[batch])
        tick()
    print(f"last loss {loss:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    main(parser.parse_args().fixed)
