"""jit and grad, the update by hand; an accuracy after each epoch."""

import jax
import jax.numpy as jnp
from parts import batches, loss_of, parameters, scores, tell


@jax.jit
def update(params, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


@jax.jit
def accuracy(params, images, labels):
    return jnp.mean(scores(params, images).argmax(axis=1) == labels)


def train():
    params = parameters()
    for epoch in range(3):
        for images, labels in batches(16, seed=epoch):
            params, loss = update(params, images, labels)
        right = [float(accuracy(params, *batch)) for batch in batches(4, seed=9)]
        print(sum(right))
        tell(loss)


train()
