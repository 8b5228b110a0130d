"""The same training with what a pull request adds: it watches the gradients and the weights.

See the change:  diff -u examples/ci_gate/train.py examples/ci_gate/train_slower.py
"""

import argparse
import time
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent.parent / "data" / "digits.npz"
RATE = 0.1
seen = []


def get_dataset(path):
    """All pictures, one a row, from 0 to 1, and their labels."""
    with np.load(path) as data:
        images, labels = data["images"], data["labels"]
    return images.reshape(len(images), -1).astype(np.float32) / 255, labels


def softmax(scores):
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def spread(gradient):
    """The mean of its numbers, how far they are from it, and how far one of them is from 0."""
    return float(gradient.mean()), float(gradient.std()), float(np.abs(gradient).max())


def train_step(weights, x, labels):
    first, second = weights
    hidden = np.maximum(x @ first, 0)
    probabilities = softmax(hidden @ second)
    loss = -np.log(probabilities[np.arange(len(x)), labels] + 1e-9).mean()
    error = probabilities
    error[np.arange(len(x)), labels] -= 1
    error /= len(x)
    back = (error @ second.T) * (hidden > 0)
    gradients = x.T @ back, hidden.T @ error
    seen.append([*map(spread, gradients), float(np.abs(first).max())])
    first -= RATE * gradients[0]
    second -= RATE * gradients[1]
    return loss


def train(arguments):
    images, labels = get_dataset(arguments.data)
    rng = np.random.default_rng(0)
    shapes = ((images.shape[1], arguments.width), (arguments.width, 10))
    weights = [rng.normal(0, 0.05, shape).astype(np.float32) for shape in shapes]
    began = time.perf_counter()
    for _ in range(arguments.steps):
        chosen = rng.integers(0, len(images), size=arguments.batch)
        loss = train_step(weights, images[chosen], labels[chosen])
    step_time = (time.perf_counter() - began) / arguments.steps
    print(
        f"loss {loss:.3f}  step_time {1e3 * step_time:.1f} ms"
        f"  throughput {arguments.batch / step_time:,.0f} img/s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--width", type=int, default=256)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
