"""flax.linen with its TrainState."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState
from parts import batches, tell


class Net(nn.Module):
    @nn.compact
    def __call__(self, images):
        return nn.Dense(10)(nn.relu(nn.Dense(128)(images)))


@jax.jit
def train_step(state, images, labels):
    def loss_of(params):
        scores = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


model = Net()
params = model.init(jax.random.key(0), jnp.ones((1, 64)))["params"]
state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
for images, labels in batches(30):
    state, loss = train_step(state, images, labels)
tell(loss)
