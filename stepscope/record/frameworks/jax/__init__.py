"""JAX and Optax: jitted calls, compilations, gradients, waits for arrays, updates and operators."""

from typing import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "jax": ("stand_in", "compilation", "jit_calls", "gradients", "arrays", "operators"),
    "optax": ("optax",),
}
