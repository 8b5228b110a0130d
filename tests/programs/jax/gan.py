"""Two networks, each with a jitted update of its own."""

import jax
import jax.numpy as jnp
import optax
from parts import parameters, scores, tell

optimizer = optax.adam(1e-3)


def make(loss):
    @jax.jit
    def update(params, state, other, key):
        value, gradients = jax.value_and_grad(loss)(params, other, key)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, value

    return update


def judged(judge, maker, key):
    return scores(judge, jax.random.normal(key, (32, 64)) + scores(maker, jax.random.normal(key, (32, 64))).mean())


train_judge = make(lambda judge, maker, key: judged(judge, maker, key).mean())
train_maker = make(lambda maker, judge, key: -judged(judge, maker, key).mean())
judge, maker = parameters(), parameters()
judge_state, maker_state = optimizer.init(judge), optimizer.init(maker)
split = jax.jit(lambda key: jax.random.split(key))
key = jax.random.key(1)
for step in range(20):
    key, now = split(key)
    judge, judge_state, _ = train_judge(judge, judge_state, maker, now)
    maker, maker_state, loss = train_maker(maker, maker_state, judge, now)
tell(loss)
