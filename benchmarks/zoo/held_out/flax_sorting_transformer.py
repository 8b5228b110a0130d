"""Teaches a small Flax transformer to sort digits. The first step compiles for long."""

import argparse
from functools import partial
from time import perf_counter

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState
from timing import tick

ZOO = {"id": None, "function": None, "framework": "flax"}

LENGTH, SYMBOLS, BATCH = 24, 10, 32


class Layer(nn.Module):
    dim: int
    heads: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=self.heads)(h, h)
        h = nn.LayerNorm()(x)
        return x + nn.Dense(self.dim)(nn.gelu(nn.Dense(4 * self.dim)(h)))


class Sorter(nn.Module):
    dim: int = 64
    depth: int = 6
    heads: int = 4

    @nn.compact
    def __call__(self, tokens):
        position = self.param("position", nn.initializers.normal(0.02), (LENGTH, self.dim))
        x = nn.Embed(SYMBOLS, self.dim)(tokens) + position
        for _ in range(self.depth):
            x = Layer(self.dim, self.heads)(x)
        return nn.Dense(SYMBOLS)(nn.LayerNorm()(x))


def loss_fn(params, apply_fn, tokens):
    logits = apply_fn({"params": params}, tokens)
    targets = jnp.sort(tokens, axis=1)
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


@partial(jax.jit, donate_argnums=0)
def train_step(state, tokens):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, state.apply_fn, tokens)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def exact_match(state, tokens):
    predicted = state.apply_fn({"params": state.params}, tokens).argmax(-1)
    return (predicted == jnp.sort(tokens, axis=1)).mean()


def create_state(seed, steps):
    model = Sorter()
    params = model.init(jax.random.key(seed), jnp.zeros((1, LENGTH), jnp.int32))["params"]
    schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-3, steps // 10, steps)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    return TrainState.create(apply_fn=model.apply, params=params, tx=tx)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fixed", action="store_true", help="has no effect")
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    state = create_state(args.seed, args.steps)
    test_tokens = rng.integers(SYMBOLS, size=(64, LENGTH), dtype=np.int32)
    started = None
    for step in range(1, args.steps + 1):
        tokens = rng.integers(SYMBOLS, size=(BATCH, LENGTH), dtype=np.int32)
        state, loss = train_step(state, tokens)
        if step == 1:
            loss.block_until_ready()
            started = perf_counter()
        elif step % 80 == 0:
            ms = 1000 * (perf_counter() - started) / (step - 1)
            print(f"step {step}  loss {float(loss):.4f}  {ms:.1f} ms")
        tick()
    print(f"digits in the right place: {float(exact_match(state, test_tokens)):.3f}")


if __name__ == "__main__":
    main()
