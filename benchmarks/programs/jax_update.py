"""Steps of about 5 ms of a jitted update in JAX, each waited for."""

import jax
import jax.numpy as jnp
import numpy as np
from timing import measure

WIDTH, BATCH = 512, 256

random = np.random.default_rng(0)
images = random.random((32, BATCH, 784), dtype=np.float32)
labels = random.integers(0, 10, (32, BATCH))
parameters = [
    jnp.asarray(random.normal(0, 0.05, shape), dtype=jnp.float32)
    for shape in ((784, WIDTH), (WIDTH, WIDTH), (WIDTH, 10))
]


def loss_of(parameters, images, labels):
    first, second, last = parameters
    hidden = jax.nn.relu(jax.nn.relu(images @ first) @ second)
    chosen = jax.nn.log_softmax(hidden @ last)[jnp.arange(BATCH), labels]
    return -chosen.mean()


@jax.jit
def update(parameters, images, labels):
    loss, gradients = jax.value_and_grad(loss_of)(parameters, images, labels)
    return [p - 0.01 * g for p, g in zip(parameters, gradients, strict=True)], loss


turn = 0


def step():
    global parameters, turn
    parameters, loss = update(parameters, images[turn % 32], labels[turn % 32])
    turn += 1
    loss.block_until_ready()


if __name__ == "__main__":
    step()  # compiles
    measure(step, rounds=600)
