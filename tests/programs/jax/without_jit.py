"""Operator by operator, with optax."""

import jax
import optax
from parts import batches, loss_of, parameters, tell


def train():
    params = parameters()
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))
    state = optimizer.init(params)
    loss_and_gradients = jax.value_and_grad(loss_of)
    for images, labels in batches(25):
        loss, gradients = loss_and_gradients(params, images, labels)
        updates, state = optimizer.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
    tell(loss)


train()
