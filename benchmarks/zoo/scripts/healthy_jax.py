"""A jitted JAX step on batches of one shape."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "jax"}


def scores_of(parameters, x):
    for weights, bias in parameters[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    weights, bias = parameters[-1]
    return x @ weights + bias


def loss_of(parameters, x, y):
    chosen = jax.nn.log_softmax(scores_of(parameters, x))[jnp.arange(len(y)), y]
    return -chosen.mean()


@jax.jit
def train_step(parameters, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    rng = np.random.default_rng(0)
    sizes = [256, 1024, 1024, 10]
    parameters = [
        (jnp.array(rng.normal(0, np.sqrt(2 / a), (a, b)), jnp.float32), jnp.zeros(b))
        for a, b in zip(sizes, sizes[1:], strict=False)
    ]
    labels = rng.integers(0, 10, 8192)
    inputs = (rng.normal(size=(10, 256))[labels] + 3 * rng.normal(size=(8192, 256))).astype("f4")
    for step in range(100):
        batch = rng.integers(0, len(labels), 512)
        parameters, loss = train_step(parameters, inputs[batch], labels[batch])
        if step % 20 == 0:
            print(f"step {step} loss {float(loss):.3f}")
        jax.block_until_ready(parameters)
        tick()


if __name__ == "__main__":
    main()
