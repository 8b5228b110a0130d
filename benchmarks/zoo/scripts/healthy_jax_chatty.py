"""A JAX training that logs, prints and counts in every step, all of it cheap."""

import argparse
import collections
import csv
import logging
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
from timing import tick

ZOO = {"id": None, "function": None, "framework": "optax"}
log = logging.getLogger("siamese")


def embed(parameters, x):
    for weights in parameters[:-1]:
        x = jax.nn.gelu(x @ weights)
    x = x @ parameters[-1]
    return x / (1e-6 + jnp.linalg.norm(x, axis=1, keepdims=True))


def contrast(parameters, left, right):
    """Each left one should be next to its right one."""
    alike = embed(parameters, left) @ embed(parameters, right).T / 0.1
    return optax.softmax_cross_entropy_with_integer_labels(alike, jnp.arange(len(left))).mean()


def make_step(optimizer):
    @jax.jit
    def step(parameters, state, left, right):
        loss, gradients = jax.value_and_grad(contrast)(parameters, left, right)
        changes, state = optimizer.update(gradients, state)
        return optax.apply_updates(parameters, changes), state, loss

    return step


class Diary:
    """Every loss in a table, a line in the log, and the mean of the last ones."""

    def __init__(self, file):
        self.rows = csv.writer(file)
        self.recent = collections.deque(maxlen=20)

    def note(self, number, loss):
        self.recent.append(loss)
        mean = sum(self.recent) / len(self.recent)
        self.rows.writerow([number, f"{loss:.5f}", f"{mean:.5f}"])
        log.info("step %d loss %.4f mean %.4f", number, loss, mean)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s %(message)s")
    logging.getLogger("jax").setLevel(logging.WARNING)
    rng = np.random.default_rng(24)
    sizes = [96, 256, 256, 32]
    parameters = [
        jnp.array(rng.normal(0, (2 / a) ** 0.5, (a, b)), jnp.float32)
        for a, b in zip(sizes, sizes[1:], strict=False)
    ]
    optimizer = optax.adam(1e-3)
    state, step = optimizer.init(parameters), make_step(optimizer)
    with open("diary.csv", "w", newline="") as file:
        diary = Diary(file)
        for number in range(120):
            left = rng.normal(size=(384, 96)).astype("f4")
            right = (left + 0.5 * rng.normal(size=left.shape)).astype("f4")
            parameters, state, loss = step(parameters, state, left, right)
            diary.note(number, float(loss))
            tick()


if __name__ == "__main__":
    main()
