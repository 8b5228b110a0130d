"""JAX, and Optax with it.

Phases: compute of the user's jitted functions, gradients outside jit, optimizer, waits for
arrays, transfers, compilation with its cause. Steps: a function that gets back what it returned,
or an update of Optax. Windows: operators under JAX's profiler. Notes: recompilations.
"""

from stepscope.typed import Final

# A module that the script loads, and the files here that watch it.
WATCHES: Final = {
    "jax": ("stand_in", "compilation", "jit_calls", "gradients", "arrays", "operators", "losses"),
    "optax": ("optax",),
}
