"""A JAX update that is differentiated but never jitted."""

import argparse

import jax
import jax.numpy as jnp
from timing import tick

ZOO = {"id": "eager-overhead", "function": "update", "framework": "jax"}

SIZES = [16, 48, 48, 48, 48, 1]


def make_parameters(key):
    keys = jax.random.split(key, len(SIZES) - 1)
    return [
        (jax.random.normal(k, (a, b)) / jnp.sqrt(a), jnp.zeros(b))
        for k, a, b in zip(keys, SIZES, SIZES[1:], strict=False)
    ]


def loss_of(parameters, x, y):
    for weights, bias in parameters[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = parameters[-1]
    return jnp.mean((x @ weights + bias - y) ** 2)


def update(parameters, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
    return loss, jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradients)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    step_function = jax.jit(update) if parser.parse_args().fixed else update
    key = jax.random.PRNGKey(0)
    parameters = make_parameters(key)
    x = jax.random.normal(key, (150, 128, 16))
    y = jnp.sin(x[..., :2].sum(axis=-1, keepdims=True))
    for step in range(150):
        loss, parameters = step_function(parameters, x[step], y[step])
        if step % 30 == 0:
            print(f"step {step} loss {loss:.4f}")
        jax.block_until_ready(parameters)
        tick()


if __name__ == "__main__":
    main()
