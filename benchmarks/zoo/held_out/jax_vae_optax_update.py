"""A variational autoencoder in JAX: parameters are a plain dictionary, Optax does the updates."""

import argparse
import itertools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits
from timing import tick

ZOO = {
    "id": "eager-overhead",
    "also": ["optimizer-unfused"],
    "function": ["update", "main"],
    "framework": "jax",
}

LATENT, WIDTHS = 10, (64, 256, 256)
optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(1e-3, weight_decay=1e-4))


def dense(key, n_in, n_out):
    return {
        "w": jax.random.normal(key, (n_in, n_out)) * jnp.sqrt(2 / n_in),
        "b": jnp.zeros(n_out),
    }


def init_params(key):
    keys = iter(jax.random.split(key, 16))
    encoder = [dense(next(keys), a, b) for a, b in itertools.pairwise(WIDTHS)]
    decoder_widths = (LATENT, *reversed(WIDTHS[1:]))
    decoder = [dense(next(keys), a, b) for a, b in itertools.pairwise(decoder_widths)]
    return {
        "encoder": encoder,
        "mean": dense(next(keys), WIDTHS[-1], LATENT),
        "logvar": dense(next(keys), WIDTHS[-1], LATENT),
        "decoder": decoder,
        "pixels": dense(next(keys), decoder_widths[-1], 64),
    }


def apply(layer, x):
    return x @ layer["w"] + layer["b"]


def elbo_loss(params, x, key):
    h = x
    for layer in params["encoder"]:
        h = jax.nn.gelu(apply(layer, h))
    mean, logvar = apply(params["mean"], h), apply(params["logvar"], h)
    z = mean + jnp.exp(logvar / 2) * jax.random.normal(key, mean.shape)
    for layer in params["decoder"]:
        z = jax.nn.gelu(apply(layer, z))
    logits = apply(params["pixels"], z)
    reconstruction = optax.sigmoid_binary_cross_entropy(logits, x).sum(-1)
    kl = -0.5 * (1 + logvar - mean**2 - jnp.exp(logvar)).sum(-1)
    return (reconstruction + kl).mean()


loss_and_grad = jax.jit(jax.value_and_grad(elbo_loss))


def update(params, opt_state, x, key):
    loss, grads = loss_and_grad(params, x, key)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="compile the whole update")
    parser.add_argument("--num_steps", type=int, default=500)
    args = parser.parse_args()

    step_fn = jax.jit(update) if args.fixed else update
    images = (load_digits().data / 16).astype(np.float32)
    rng = np.random.default_rng(0)
    key, init_key = jax.random.split(jax.random.key(0))
    params = init_params(init_key)
    opt_state = optimizer.init(params)
    start = None
    for step in range(args.num_steps):
        key, step_key = jax.random.split(key)
        batch = images[rng.integers(len(images), size=256)]
        params, opt_state, loss = step_fn(params, opt_state, batch, step_key)
        tick()
        if step == 0:
            loss.block_until_ready()
            start = time.time()
        if (step + 1) % 100 == 0:
            print(f"step {step + 1}: ELBO {-float(loss):.2f}, ", end="")
            print(f"{1000 * (time.time() - start) / step:.2f} ms/step")


if __name__ == "__main__":
    main()
