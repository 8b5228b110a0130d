"""Jits a new function in every epoch, with another learning rate in its closure; prints losses, and
how often each kind of function was traced."""

import jax
import jax.numpy as jnp
import numpy as np

TRACED = {"update": 0, "measure": 0, "branch": 0}


def updater(rate: float):
    def update(weights, x, y):
        TRACED["update"] += 1
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(weights)
        return weights - rate * gradient, loss

    return jax.jit(update)


def measure():
    @jax.jit
    def error(weights, x, y):
        TRACED["measure"] += 1
        return jnp.abs(x @ weights - y).max()

    return error


def branch(power: int):
    """A number that decides what is computed."""

    def powered(x):
        TRACED["branch"] += 1
        return x**power if power > 1 else x

    return jax.jit(powered)


rng = np.random.default_rng(0)
x = jnp.asarray(rng.normal(size=(64, 8)), jnp.float32)
y = x @ jnp.arange(8.0)
weights = jnp.zeros(8)
for epoch in range(6):
    update = updater(0.2 * 0.9**epoch)
    for _ in range(5):
        weights, loss = update(weights, x, y)
        print(f"{float(loss):.6f}")
    print(f"{float(measure()(weights, x, y)):.6f} {float(branch(epoch % 3)(2.0)):.1f}")
print(TRACED)
