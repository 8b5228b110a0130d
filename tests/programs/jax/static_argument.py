"""The number of the step is a static argument."""

import functools

import jax
from parts import loss_of, parameters, batches, tell


@functools.partial(jax.jit, static_argnums=3)
def update(params, images, labels, step):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    rate = 0.1 / (1 + step)
    return jax.tree.map(lambda p, g: p - rate * g, params, gradients), loss


params = parameters()
for step, (images, labels) in enumerate(batches(6)):
    params, loss = update(params, images, labels, step)
tell(loss)
