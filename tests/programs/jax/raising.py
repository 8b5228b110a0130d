"""What JAX raises, told by Python itself."""

import traceback

import jax
import jax.numpy as jnp
import optax


@jax.jit
def inner(x):
    return jnp.dot(x, jnp.ones((3, 3)))


@jax.jit
def outer(x):
    return inner(x) + 1


def in_jit():
    outer(jnp.ones((2, 3)))
    outer(jnp.ones((2, 4)))


@jax.jit
def choose(x):
    if x > 0:
        return x
    return -x


def needs_a_value():
    jax.grad(choose)(1.0)


def nothing_to_jit():
    jax.jit(3)


def loss(params):
    raise ValueError(f"no loss today of {type(params).__name__}")


def without_jit():
    jax.value_and_grad(loss)({"w": 1.0})


def no_such_updates():
    optax.apply_updates({"w": jnp.ones(2)}, {"v": jnp.ones(2)})


kept = []


@jax.jit
def leaks(x):
    kept.append(x * 2)
    return x


def leaked():
    leaks(jnp.ones(2))
    float(kept[0][0])


take = jax.jit(lambda x: x + 1, donate_argnums=0)


def donated():
    x = jnp.ones(3)
    take(x)
    x.block_until_ready()


def read_when_deleted():
    x = jnp.ones(3)
    x.delete()
    float(x[0])


def no_number():
    float(jnp.ones(3))


def no_array():
    jax.device_put("text")


def wrong_arguments():
    outer(1, 2, 3, nonsense=4)


for case in (
    in_jit, needs_a_value, nothing_to_jit, without_jit, no_such_updates, leaked, donated,
    read_when_deleted, no_number, no_array, wrong_arguments,
):  # fmt: skip
    try:
        case()
        print(case.__name__, "raises nothing")
    except Exception:
        traceback.print_exc()
choose(1.0)
