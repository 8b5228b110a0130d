"""Every way in which the host waits for an array, once a step."""

import jax
import jax.numpy as jnp
import numpy as np
from parts import batches, loss_of, parameters


@jax.jit
def update(params, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


params = parameters()
for images, labels in batches(10):
    images, labels = jax.device_put((images, labels))
    params, loss = update(params, images, labels)
    seen = [float(loss + 0), int(loss + 0), bool(loss + 0), (loss + 0).item(), (loss + 0).tolist()]
    seen += [str(loss + 0), f"{loss + 0:.3f}", np.asarray(loss + 0), np.array(loss + 0)]
    seen += [jax.device_get(loss), params[0]["b"].block_until_ready() is params[0]["b"]]
    seen += [jax.block_until_ready(params) is not None, jnp.argmax(images).__index__()]
print(seen)
