"""A jitted JAX step that is traced again for every new sequence length."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from timing import tick

ZOO = {"id": "recompilation", "function": ["main", "train_step"], "framework": "jax"}

LONGEST = 100


def model(parameters, sequence):
    hidden = jnp.tanh(sequence @ parameters["in"])
    return (hidden.sum(axis=0) / LONGEST) @ parameters["out"]


def loss_of(parameters, sequence, target):
    return jnp.mean((model(parameters, sequence) - target) ** 2)


@jax.jit
def train_step(parameters, sequence, target):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, sequence, target)
    return loss, jax.tree.map(lambda p, g: p - 0.5 * g, parameters, gradients)


def make_batch(rng, pad):
    """Zeros in front do no harm: they add nothing to the sum."""
    length = rng.integers(40, LONGEST)
    sequence = rng.normal(size=(length, 64, 16)).astype(np.float32)
    target = np.tanh(sequence[:, :, :1].sum(axis=0) / 10)
    if pad:
        sequence = np.concatenate([np.zeros((LONGEST - length, 64, 16), np.float32), sequence])
    return sequence, target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    parameters = {
        "in": jax.random.normal(keys[0], (16, 64)) * 0.3,
        "out": jax.random.normal(keys[1], (64, 1)) * 0.1,
    }
    rng = np.random.default_rng(0)
    for step in range(60):
        loss, parameters = train_step(parameters, *make_batch(rng, arguments.fixed))
        if step % 10 == 0:
            print(f"step {step} loss {float(loss):.4f}")
        tick()


if __name__ == "__main__":
    main()
