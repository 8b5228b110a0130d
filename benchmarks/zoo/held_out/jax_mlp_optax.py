"""Sentiment-style classifier on token sequences of different lengths (JAX + optax)."""
import argparse
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from step_clock import StepClock

ZOO = {"id": "recompilation", "function": ["train_step", "batches", "pad_batch", "main"], "framework": "jax"}

VOCAB = 400


def make_corpus(size, rng, longest):
    """Class words are a little more frequent in documents of their class."""
    docs, labels = [], rng.integers(0, 2, size)
    for label in labels:
        n = int(np.clip(rng.lognormal(4.0, 0.35), 20, longest))
        words = rng.integers(1, VOCAB, n)
        special = rng.random(n) < 0.08
        words[special] = 1 + label * 20 + rng.integers(0, 20, special.sum())
        docs.append(words.astype(np.int32))
    return docs, labels.astype(np.int32)


def pad_batch(docs, longest):
    tokens = np.zeros((len(docs), longest), np.int32)
    for row, doc in zip(tokens, docs):
        row[:len(doc)] = doc
    return tokens


def batches(docs, labels, size, rng, longest=None):
    order = rng.permutation(len(docs))
    for lo in range(0, len(order) - size + 1, size):
        picked = [docs[i] for i in order[lo:lo + size]]
        width = longest or max(len(d) for d in picked)
        yield pad_batch(picked, width), labels[order[lo:lo + size]]


def init_params(key, width=96, hidden=128):
    keys = jax.random.split(key, 4)
    dense = lambda k, i, o: {"w": jax.random.normal(k, (i, o)) / np.sqrt(i), "b": jnp.zeros(o)}
    return {"embed": 0.3 * jax.random.normal(keys[0], (VOCAB, width)),
            "token": dense(keys[1], width, width),
            "hidden": dense(keys[2], width, hidden),
            "out": dense(keys[3], hidden, 2)}


def apply(params, tokens):
    mask = (tokens > 0)[..., None]
    x = params["embed"][tokens]
    x = jax.nn.relu(x @ params["token"]["w"] + params["token"]["b"]) * mask
    x = x.sum(1) / mask.sum(1)
    x = jax.nn.relu(x @ params["hidden"]["w"] + params["hidden"]["b"])
    return x @ params["out"]["w"] + params["out"]["b"]


def loss_fn(params, tokens, labels):
    return optax.softmax_cross_entropy_with_integer_labels(apply(params, tokens), labels).mean()


@partial(jax.jit, static_argnums=0)
def train_step(tx, params, state, tokens, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, labels)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", type=int, default=960)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--longest", type=int, default=120)
    parser.add_argument("--fixed", action="store_true", help="use the faster variant")
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    docs, labels = make_corpus(args.docs, rng, args.longest)
    params = init_params(jax.random.PRNGKey(0))
    tx = optax.sgd(0.5, momentum=0.9)
    state = tx.init(params)
    clock = StepClock()
    for epoch in range(args.epochs):
        losses = []
        for tokens, target in batches(docs, labels, args.batch, rng, args.longest if args.fixed else None):
            params, state, loss = train_step(tx, params, state, tokens, target)
            losses.append(float(loss))
            clock.tick()
        print(f"epoch {epoch + 1}  loss {np.mean(losses):.3f}")
    clock.dump()


if __name__ == "__main__":
    main()
