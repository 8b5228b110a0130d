"""Operator by operator, the update by hand."""

import jax
from parts import batches, loss_of, parameters, tell

params = parameters()
for images, labels in batches(20):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
tell(loss)
