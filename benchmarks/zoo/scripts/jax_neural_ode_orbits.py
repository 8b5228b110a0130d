"""Learn the vector field of a damped oscillator family with a neural ODE (JAX, RK4)."""

import argparse
import functools
import itertools
import time

import jax
import jax.numpy as jnp
import numpy as np

from timing import tick

ZOO = {"id": None, "function": None, "framework": "jax"}

DT = 0.1


def init_mlp(key, sizes):
    params = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        key, sub = jax.random.split(key)
        weight = jax.random.normal(sub, (fan_in, fan_out)) / jnp.sqrt(fan_in)
        params.append({"w": weight, "b": jnp.zeros(fan_out)})
    return params


def field(params, state):
    h = state
    for layer in params[:-1]:
        h = jnp.tanh(h @ layer["w"] + layer["b"])
    return h @ params[-1]["w"] + params[-1]["b"]


def rk4(f, state):
    k1 = f(state)
    k2 = f(state + 0.5 * DT * k1)
    k3 = f(state + 0.5 * DT * k2)
    k4 = f(state + DT * k3)
    return state + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def rollout(params, start, length):
    def advance(state, _):
        following = rk4(functools.partial(field, params), state)
        return following, following

    return jax.lax.scan(advance, start, None, length=length)[1]


def loss_fn(params, orbits):
    predicted = rollout(params, orbits[0], orbits.shape[0] - 1)
    return jnp.mean((predicted - orbits[1:]) ** 2)


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(params, mean, var, orbits, count, lr):
    loss, grads = jax.value_and_grad(loss_fn)(params, orbits)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, grads)
    var = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, var, grads)
    fix1, fix2 = 1 - 0.9**count, 1 - 0.99**count

    def move(p, m, v):
        return p - lr * (m / fix1) / (jnp.sqrt(v / fix2) + 1e-8)

    return jax.tree.map(move, params, mean, var), mean, var, loss


@jax.jit
def evaluate(params, orbits):
    predicted = rollout(params, orbits[0], orbits.shape[0] - 1)
    error = jnp.linalg.norm(predicted - orbits[1:], axis=-1)
    return error.mean(), error[-1].max()


def simulate(rng, n, length):
    """Orbits of a damped nonlinear pendulum, shape (length, n, 2)."""
    state = rng.uniform(-1.5, 1.5, (n, 2))

    def pendulum(s):
        return np.stack([s[:, 1], -2.0 * np.sin(s[:, 0]) - 0.15 * s[:, 1]], axis=1)

    track = [state]
    for _ in range(length - 1):
        state = rk4(pendulum, state)
        track.append(state)
    return np.stack(track).astype(np.float32)


def batches(rng, orbits, size):
    order = rng.permutation(orbits.shape[1])
    for start in range(0, len(order) - size + 1, size):
        yield orbits[:, order[start : start + size]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="no effect")
    parser.add_argument("--epochs", type=int, default=16)
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    train, test = simulate(rng, 2048, 20), simulate(rng, 256, 20)
    params = init_mlp(jax.random.key(0), (2, 80, 80, 2))
    mean = jax.tree.map(jnp.zeros_like, params)
    var = jax.tree.map(jnp.zeros_like, params)
    count = 0
    for epoch in range(args.epochs):
        began = time.perf_counter()
        losses = []
        lr = 3e-3 * 0.85**epoch
        for orbits in batches(rng, train, args.batch):
            count += 1
            params, mean, var, loss = train_step(params, mean, var, orbits, count, lr)
            losses.append(loss)
            loss.block_until_ready()
            tick()
        error, worst = evaluate(params, test)
        print(
            f"epoch {epoch:2d}  loss {np.mean(losses):.5f}  test {float(error):.4f} "
            f"(worst end {float(worst):.3f})  {time.perf_counter() - began:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
