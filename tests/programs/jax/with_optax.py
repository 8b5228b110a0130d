"""Optax inside of jit, with donated arguments and the partial form of the decorator."""

import functools

import jax
import optax
from parts import batches, loss_of, parameters, tell

optimizer = optax.adam(1e-3)


@functools.partial(jax.jit, donate_argnums=(0, 1), static_argnames="scale")
def train_step(params, state, images, labels, *, scale=1.0):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    gradients = jax.tree.map(lambda g: g * scale, gradients)
    updates, state = optimizer.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss


params = parameters()
state = optimizer.init(params)
for images, labels in batches(40):
    params, state, loss = train_step(params, state, images, labels, scale=0.5)
    if float(loss) > 100:
        break
tell(loss)
