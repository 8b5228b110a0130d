"""What looks at jitted functions, or transforms them, sees and gets what it always does."""

import copy
import functools
import inspect
import pickle
import weakref

import cloudpickle
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def square(x, power: int = 2):
    """Its own words."""
    return x**power


def plain(x, n):
    return x * n


class Model:
    def __init__(self):
        self.factor = 3.0

    @functools.partial(jax.jit, static_argnums=0)
    def scaled(self, x):
        return self.factor * x

    @staticmethod
    @jax.jit
    def twice(x):
        return 2 * x


x = jnp.arange(3.0)
print(square.__name__, square.__qualname__, square.__module__, square.__doc__, square.__annotations__)
print(inspect.signature(square), inspect.getsource(square).splitlines()[1], callable(square))
print(type(square.__wrapped__).__name__, inspect.unwrap(square) is square.__wrapped__)
print(isinstance(square, type(jax.jit(plain))), isinstance(square, jax.stages.Wrapped))
print(isinstance(jnp.dot, type(square)), isinstance(plain, type(square)))
print(repr(square).partition(" at ")[0], sorted(name for name in dir(square) if name[0] != "_"))
square.note = "kept"
print(square.note, square.__dict__.keys() == square.__dict__.copy().keys(), hasattr(square, "other"))
del square.note
print(hasattr(square, "note"), weakref.ref(square)() is square, {square: 1}[square], square == square)
print(square.lower(x).as_text()[:20], square.lower(x).compile()(x), square.trace(x).jaxpr)
print(square.eval_shape(x), jax.eval_shape(square, x), square._cache_size() >= 0)
square.clear_cache()
print(jax.grad(lambda x: square(x).sum())(x), jax.vmap(square)(x), jax.jit(jax.jit(square))(x))
print(jax.make_jaxpr(square)(x))
print(jax.jvp(square, (x,), (x,)), jax.hessian(lambda x: square(x).sum())(x).shape)
print(jax.checkpoint(square)(x), jax.lax.map(square, x), jax.jit(lambda x: square(x) + 1)(x))
print(Model().scaled(x), Model().twice(x), Model.scaled.__name__, Model.twice(x))
print(jax.jit(plain, static_argnums=1)(x, 3), jax.jit(plain, static_argnames="n")(x, n=3))
print(jax.jit(functools.partial(plain, n=4))(x), jax.jit(lambda: 1.0)())
print(jax.jit(static_argnums=1)(plain)(x, 5))
print(inspect.signature(jax.jit) == inspect.signature(inspect.unwrap(jax.jit)), jax.jit.__name__)
print(pickle.loads(pickle.dumps(jax.jit)) is jax.jit)
gradient = jax.value_and_grad(lambda x: (x**2).sum())
print(gradient(x), inspect.isfunction(gradient), inspect.signature(gradient), gradient.__name__)
print(cloudpickle.loads(cloudpickle.dumps(gradient))(x))
print(type(cloudpickle.loads(cloudpickle.dumps(square))).__name__)
print(cloudpickle.loads(cloudpickle.dumps(square))(x), copy.copy(square)(x))
print(jax.jit(gradient)(x), jax.grad(jax.grad(lambda x: x**3))(2.0), jax.grad(square)(2.0))
loaded = jax.export.deserialize(jax.export.export(square)(x).serialize())
print(loaded.call(x), jax.pmap(lambda x: x + 1)(x[None]))


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))


@jax.jit
def noisy(x):
    jax.debug.print("in jit {}", x.sum())
    host = jax.pure_callback(lambda x: np.sin(x), jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return clipped(host * 5).sum()


print(jax.value_and_grad(lambda x: clipped(x * 9.0).sum())(x), noisy(x), noisy(x))
jax.effects_barrier()
with jax.disable_jit():
    print(square(x))
with jax.checking_leaks():
    print(square(x + 1))
text = square.lower(x).as_text(debug_info=True)
print("stepscope" in text, "readers.py" in text)
