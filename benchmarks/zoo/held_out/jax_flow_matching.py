"""Flow matching on two moons in JAX, with an analysis of the gradients over the run."""

import argparse
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import make_moons
from step_clock import StepClock

ZOO = {"id": "memory-growth", "function": ["GradientMonitor.record", "main"], "framework": "jax"}


def init_params(key, sizes):
    params = []
    for inputs, outputs in itertools.pairwise(sizes):
        key, sub = jax.random.split(key)
        weight = jax.random.normal(sub, (inputs, outputs)) * (2 / inputs) ** 0.5
        params.append({"w": weight, "b": jnp.zeros(outputs)})
    return params


def velocity(params, x, t):
    h = jnp.concatenate([x, t, jnp.sin(6.28 * t), jnp.cos(6.28 * t)], axis=1)
    for layer in params[:-1]:
        h = jax.nn.gelu(h @ layer["w"] + layer["b"])
    return h @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, key, data):
    noise_key, time_key = jax.random.split(key)
    noise = jax.random.normal(noise_key, data.shape)
    t = jax.random.uniform(time_key, (len(data), 1))
    x = (1 - t) * noise + t * data
    return jnp.mean((velocity(params, x, t) - (data - noise)) ** 2)


def make_update(optimizer):
    @jax.jit
    def update(params, opt_state, key, data):
        loss, grads = jax.value_and_grad(loss_fn)(params, key, data)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss, grads

    return update


class GradientMonitor:
    """Cosine between the gradients of neighbouring steps: a sign of too large a learning rate."""

    def __init__(self, keep):
        self.keep = keep
        self.history = []
        self.cosines = []

    def record(self, grads):
        self.history.append(grads)
        if self.keep is not None:
            del self.history[: -self.keep]
        if len(self.history) > 1:
            self.cosines.append(float(cosine(self.history[-2], self.history[-1])))


@jax.jit
def cosine(a, b):
    dot = functools.partial(jax.tree.map, jnp.vdot)
    ab, aa, bb = (sum(jax.tree.leaves(dot(x, y))) for x, y in ((a, b), (a, a), (b, b)))
    return ab / jnp.sqrt(aa * bb + 1e-12)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--hidden", type=int, default=384)
    args = parser.parse_args()

    points, _ = make_moons(4000, noise=0.05, random_state=0)
    points = points.astype(np.float32)
    rng = np.random.default_rng(0)
    key = jax.random.key(0)
    params = init_params(key, [5, args.hidden, args.hidden, args.hidden, 2])
    optimizer = optax.adam(1e-3)
    opt_state = optimizer.init(params)
    update = make_update(optimizer)
    monitor = GradientMonitor(keep=2 if args.fixed else None)

    clock = StepClock()
    for step in range(args.steps):
        key, sub = jax.random.split(key)
        data = points[rng.integers(len(points), size=args.batch)]
        params, opt_state, loss, grads = update(params, opt_state, sub, data)
        monitor.record(grads)
        if step % 100 == 99:
            mean = np.mean(monitor.cosines[-100:])
            print(f"step {step + 1} loss {float(loss):.4f} gradient cosine {mean:.3f}")
        clock.tick()
    clock.dump()


if __name__ == "__main__":
    main()
