"""torch's DataLoader feeds a jitted update."""

import jax
import torch
from parts import batches, loss_of, parameters, tell


@jax.jit
def update(params, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(params, images, labels)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


((images, labels),) = batches(1, size=64 * 24)
data = torch.utils.data.TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
params = parameters()
for images, labels in torch.utils.data.DataLoader(data, batch_size=64):
    params, loss = update(params, images.numpy(), labels.numpy())
tell(loss)
