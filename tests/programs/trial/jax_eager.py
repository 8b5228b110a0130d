"""A JAX loop without jit. Its argument names the function that makes the step."""

import sys

import jax
import jax.numpy as jnp

parameters = {"w": jnp.full((8, 8), 0.1), "b": jnp.zeros(8)}


def loss_of(parameters, x):
    return jnp.mean((jnp.tanh(x @ parameters["w"] + parameters["b"]) - 0.5) ** 2)


def update(parameters, x, rate):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, x)
    return loss, jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)


def branching(parameters, x, rate):
    loss, changed = update(parameters, x, rate)
    if loss > 100:  # a value, which jit does not have
        return loss, parameters
    return loss, changed


step_function = globals()[sys.argv[1]]
for step in range(12):
    loss, parameters = step_function(parameters, jnp.full((4, 8), 0.1 * step), 0.1 / (step + 1))
    print(float(loss))
