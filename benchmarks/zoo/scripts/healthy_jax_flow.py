"""A normalising flow in JAX: coupling layers, one jitted update, data made ahead."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
from timing import tick

ZOO = {"id": None, "function": None, "framework": "jax"}


def made(key, layers=6, width=160, half=16):
    weights = []
    for each in jax.random.split(key, layers):
        one, two = jax.random.split(each)
        weights.append(
            {
                "inward": jax.random.normal(one, (half, width)) / half**0.5,
                "outward": 0.01 * jax.random.normal(two, (width, 2 * half)),
            }
        )
    return weights


def cost(weights, x):
    a, b = jnp.split(x, 2, axis=1)
    grown = 0.0
    for layer in weights:
        scale, shift = jnp.split(jnp.tanh(a @ layer["inward"]) @ layer["outward"], 2, axis=1)
        scale = jnp.tanh(scale)
        a, b = b * jnp.exp(scale) + shift, a
        grown = grown + scale.sum(axis=1)
    return (0.5 * (a**2).sum(axis=1) + 0.5 * (b**2).sum(axis=1) - grown).mean()


@jax.jit
def update(weights, momentum, x):
    value, slope = jax.value_and_grad(cost)(weights, x)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
    weights = jax.tree.map(lambda w, m: w - 1e-3 * m, weights, momentum)
    return weights, momentum, value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.parse_args()
    rng = np.random.default_rng(7)
    data = (rng.normal(size=(1024 * 30, 32)) @ rng.normal(size=(32, 32)) / 6).astype(np.float32)
    weights = made(jax.random.key(0))
    momentum = jax.tree.map(jnp.zeros_like, weights)
    number = 0
    for epoch in range(10):
        for batch in np.split(rng.permutation(data), 30):
            weights, momentum, value = update(weights, momentum, batch)
            number += 1
            tick()
        print(f"epoch {epoch + 1}: {float(value):.3f}")


if __name__ == "__main__":
    main()
