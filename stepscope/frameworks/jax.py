"""JAX, in its own words."""

from typing import Final

from stepscope.frameworks.facts import Advice, Framework, Words

_WORDS: Final = Words(
    eager=Advice(
        "Decorate the update with @jax.jit: it is then compiled as a whole instead of operator by "
        "operator.",
        "jit",
    ),
    short_kernels="A larger batch makes the same kernels work longer; if the batch size is fixed, "
    "put more into one jitted function: the whole update, or several steps with jax.lax.scan.",
    idle_device="Give it more at a time: a larger batch, the whole update in one jax.jit (or "
    "several steps in jax.lax.scan) against launch overhead, batches put on the device ahead of "
    "the step (jax.device_put) against waiting for input, and no float() or np.asarray() on "
    "results in the step.",
    mixed_precision=Advice(
        "Compute in 16 bits: parameters and inputs as bfloat16 in the model (dtype=jnp.bfloat16 "
        "in Flax), the update in 32.",
    ),
    waiting_for_input=Advice(
        "Load ahead of the step: the next batches in other processes or threads, and "
        "jax.device_put before they are needed.",
    ),
    pageable_copy=Advice(
        "Put the next batch on the device (jax.device_put) while this one trains: the copy is "
        "asynchronous.",
    ),
    waiting_for_device="Keep results on the device: no block_until_ready(), float(), np.asarray(), "
    "print or if on an array in the step; read the loss every N steps.",
    exposed_collectives="Larger shards so that collectives are fewer, gradients in 16 bits, "
    "several batches for each exchange, and XLA's latency-hiding scheduler.",
    exposed_between_ranks="Send gradients less often (several batches for each exchange), in "
    "fewer and larger pieces, or in 16 bits.",
    recompilation=Advice("pad to a few sizes, each of which is compiled once", "even-shapes"),
    memory_growth="Keep numbers, not arrays (float(loss))",
    float32=Advice(
        "Make data and model 32 bits: dtype=jnp.float32 where arrays come from NumPy (which makes "
        "64 bits by default), and leave jax_enable_x64 off.",
    ),
    threads="",
)
JAX: Final = Framework("jax", ("jax",), ("/jax/", "/jaxlib/", "/flax/", "/optax/"), _WORDS)
