"""Residual MLP on polynomial regression with plain JAX: explicit parameter tree, jitted update, momentum SGD."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np

from step_clock import StepClock

ZOO = {"id": None, "function": None, "framework": "jax"}

HPARAMS = {"width": 384, "blocks": 3, "lr": 0.001, "momentum": 0.9, "batch": 512, "steps": 150, "inputs": 16}


def teacher(x, key):
    k1, k2 = jax.random.split(key)
    w = jax.random.normal(k1, (x.shape[1], 24)) / jnp.sqrt(x.shape[1])
    v = jax.random.normal(k2, (24, 1)) / jnp.sqrt(24.0)
    return jnp.tanh(2 * x @ w) ** 2 @ v + 0.3 * jnp.sin(3 * x[:, :1])


def init(key, hp):
    keys = iter(jax.random.split(key, 2 + 2 * hp["blocks"]))
    he = lambda i, o: jax.random.normal(next(keys), (i, o)) * jnp.sqrt(2.0 / i)
    params = {"stem": he(hp["inputs"], hp["width"]), "blocks": [], "head": he(hp["width"], 1) * 0.1}
    for _ in range(hp["blocks"]):
        params["blocks"].append({"a": he(hp["width"], hp["width"]), "b": he(hp["width"], hp["width"]) * 0.1,
                                 "bias": jnp.zeros(hp["width"])})
    return params


def forward(params, x):
    h = x @ params["stem"]
    for block in params["blocks"]:
        h = h + jax.nn.relu(h @ block["a"] + block["bias"]) @ block["b"]
    return h @ params["head"]


def mse(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


def make_update(lr, momentum):
    @jax.jit
    def update(params, velocity, x, y):
        loss, grads = jax.value_and_grad(mse)(params, x, y)
        velocity = jax.tree.map(lambda v, g: momentum * v - lr * g, velocity, grads)
        params = jax.tree.map(lambda p, v: p + v, params, velocity)
        return params, velocity, loss
    return update


def sample_stream(x, y, batch, seed):
    rng = np.random.default_rng(seed)
    while True:
        picked = rng.integers(0, len(x), batch)
        yield x[picked], y[picked]


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--steps", type=int, default=HPARAMS["steps"])
    ap.add_argument("--fixed", action="store_true", help="use the faster variant (there is only one here)")
    args = ap.parse_args()
    key = jax.random.PRNGKey(0)
    x = jax.random.normal(key, (8192, HPARAMS["inputs"]))
    y = np.asarray(teacher(x, jax.random.PRNGKey(1)))
    x = np.asarray(x)
    params = init(jax.random.PRNGKey(2), HPARAMS)
    velocity = jax.tree.map(jnp.zeros_like, params)
    update = make_update(HPARAMS["lr"], HPARAMS["momentum"])
    clock = StepClock()
    history = []
    for step, (xb, yb) in zip(range(args.steps), sample_stream(x, y, HPARAMS["batch"], seed=3)):
        params, velocity, loss = update(params, velocity, xb, yb)
        history.append(float(loss))
        clock.tick()
        if (step + 1) % 30 == 0:
            print(f"step {step + 1:4d}  mse {np.mean(history[-30:]):.4f}")
    clock.dump()


if __name__ == "__main__":
    main()
