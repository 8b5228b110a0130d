"""Only the gradients are jitted, and another function that is called now and then."""

import jax
from parts import batches, loss_of, parameters, tell

gradients_of = jax.jit(jax.value_and_grad(loss_of))
loss_only = jax.jit(loss_of)

params = parameters()
for number, (images, labels) in enumerate(batches(32)):
    if number % 8 == 0:
        loss_only(params, images, labels)
    loss, gradients = gradients_of(params, images, labels)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
tell(loss)
