"""Losses of JAX: returned by a jitted update, by jitted gradients, or outside jit; it prints them all."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

random = np.random.default_rng(0)
losses = []


def loss_of(params, images):
    return jnp.mean((images @ params["w"] * params["scale"] + params["b"]) ** 2)


def parameters():
    return {"w": jnp.ones((16, 4)), "b": jnp.zeros(4), "scale": jnp.float32(1.5)}


def images():
    return random.normal(size=(8, 16)).astype(np.float32)


def moved(params, gradients):
    return jax.tree.map(lambda value, slope: value - 0.01 * slope, params, gradients)


@jax.jit
def update(params, batch):
    loss, gradients = jax.value_and_grad(loss_of)(params, batch)
    return moved(params, gradients), loss


@functools.partial(jax.jit, donate_argnums=0)
def update_with_metrics(params, batch):
    loss, gradients = jax.value_and_grad(loss_of)(params, batch)
    return moved(params, gradients), {"loss": loss, "norm": jnp.sum(gradients["w"] ** 2)}


evaluate = jax.jit(loss_of)
value_and_gradients = jax.jit(jax.value_and_grad(loss_of))
differentiated = jax.value_and_grad(
    lambda params, batch: (loss_of(params, batch), batch), has_aux=True
)


def train():
    params = parameters()
    for _ in range(6):
        params, loss = update(params, images())
        losses.append(loss)
        evaluate(params, images())
    for _ in range(120):
        params, metrics = update_with_metrics(params, images())
        losses.append(metrics["loss"])
    for _ in range(6):
        loss, gradients = value_and_gradients(params, images())
        losses.append(loss)
        params = moved(params, gradients)
    for _ in range(3):
        (loss, _), gradients = differentiated(params, images())
        losses.append(loss)
        params = moved(params, gradients)


train()
for loss in losses:
    print(float(loss).hex())
