"""A chain CRF in JAX: each epoch jits a new lambda around its learning rate."""

import argparse
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from timing import tick

ZOO = {
    "id": "recompilation",
    "function": [
        "run_epoch",
        "main",
        "<lambda>",
        "updater.<locals>.<lambda>",
        "updater",
    ],
    "framework": "jax",
}
LABELS, WORDS = 12, 500


def log_partition(unary, transitions):
    """The forward algorithm over one sentence."""

    def onward(alpha, scores):
        return jax.nn.logsumexp(alpha[:, None] + transitions, axis=0) + scores, None

    alpha, _ = jax.lax.scan(onward, unary[0], unary[1:])
    return jax.nn.logsumexp(alpha)


def sentence_loss(parameters, words, labels):
    unary = jnp.tanh(parameters["embed"][words]) @ parameters["emit"]
    score = unary[jnp.arange(len(words)), labels].sum()
    score += parameters["transitions"][labels[:-1], labels[1:]].sum()
    return (log_partition(unary, parameters["transitions"]) - score) / len(words)


def loss_of(parameters, words, labels):
    return jax.vmap(partial(sentence_loss, parameters))(words, labels).mean()


def updated(parameters, words, labels, rate):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, words, labels)
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients), loss


UPDATED = jax.jit(updated)


def updater(rate, shared):
    """A function of parameters and batch that takes one step."""
    if shared:
        return lambda *batch: UPDATED(*batch, rate)
    return jax.jit(lambda *batch: updated(*batch, rate))


def run_epoch(parameters, batches, update):
    for words, labels in batches:
        parameters, loss = update(parameters, words, labels)
        loss.block_until_ready()
        tick()
    return parameters, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    rng = np.random.default_rng(10)
    words = rng.integers(0, WORDS, (20, 48, 20))
    labels = (words + np.roll(words, 1, axis=2)) % LABELS
    parameters = {
        "embed": jnp.array(rng.normal(0, 0.5, (WORDS, 32)), jnp.float32),
        "emit": jnp.array(rng.normal(0, 0.3, (32, LABELS)), jnp.float32),
        "transitions": jnp.zeros((LABELS, LABELS)),
    }
    for epoch in range(10):
        update = updater(0.5 * 0.95**epoch, shared=asked.fixed)
        parameters, loss = run_epoch(parameters, zip(words, labels, strict=True), update)
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1}: {float(loss):.3f}")


if __name__ == "__main__":
    main()
