"""flax.nnx: the jitted function changes the model in place."""

import jax
import optax
from flax import nnx
from parts import batches, tell


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(64, 128, rngs=rngs)
        self.second = nnx.Linear(128, 10, rngs=rngs)

    def __call__(self, images):
        return self.second(jax.nn.relu(self.first(images)))


@nnx.jit
def train_step(model, optimizer, images, labels):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
for images, labels in batches(30):
    loss = train_step(model, optimizer, images, labels)
tell(loss)
