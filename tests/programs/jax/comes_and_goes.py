"""A recording of a block: afterwards JAX is as it was, and what was jitted in it still works."""

import sys

import jax
import jax.numpy as jnp
import optax
import stepscope
from jax._src import array, monitoring, profiler, source_info_util, traceback_util


def state():
    owners = jax, optax, profiler, jax.profiler, array.ArrayImpl, optax.GradientTransformation
    values = [id(value) for owner in owners for value in vars(owner).values()]
    lists = traceback_util._exclude_paths, source_info_util._exclude_paths
    return values, [list(each) for each in lists], monitoring.get_event_duration_listeners()


before = state()
with stepscope.Profiler(sys.argv[1]):
    inside = state()
    double = jax.jit(lambda x: x * 2)
    print(double(jnp.ones(3)), float(jnp.ones(())))
print(inside != before, state() == before)
print(double(jnp.ones(3)), double(jnp.ones(4)), jax.grad(lambda x: double(x).sum())(jnp.ones(2)))
