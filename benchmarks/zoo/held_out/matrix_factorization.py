"""Matrix factorisation for recommendations (biased MF, mini-batch SGD with momentum), NumPy only."""
import sys

import numpy as np

from step_clock import StepClock

ZOO = {"id": "python-hot-loop", "function": "batch_gradients", "framework": "numpy"}

CONFIG = dict(users=1500, items=900, ratings=100_000, rank=24, lr=0.25, momentum=0.8,
              reg=0.02, batch_size=2000, epochs=13, seed=3)
FAST = "--fixed" in sys.argv[1:]


def make_ratings(cfg, rng):
    taste = rng.normal(size=(cfg["users"], 6))
    genre = rng.normal(size=(cfg["items"], 6))
    popularity = 1.0 / (np.arange(cfg["items"]) + 20)
    items = rng.choice(cfg["items"], cfg["ratings"], p=popularity / popularity.sum())
    users = rng.integers(0, cfg["users"], len(items))
    score = 3.5 + 0.5 * (taste[users] * genre[items]).sum(1) + rng.normal(0, 0.3, len(items))
    return users, items, np.clip(score, 1, 5).astype(np.float32)


def init_params(cfg, rng):
    return {
        "P": rng.normal(0, 0.1, (cfg["users"], cfg["rank"])).astype(np.float32),
        "Q": rng.normal(0, 0.1, (cfg["items"], cfg["rank"])).astype(np.float32),
        "bu": np.zeros(cfg["users"], np.float32),
        "bi": np.zeros(cfg["items"], np.float32),
    }


def batch_gradients(params, mu, users, items, ratings, reg):
    """Gradients of the squared error over one batch, and the summed error."""
    P, Q, bu, bi = params["P"], params["Q"], params["bu"], params["bi"]
    grads = {k: np.zeros_like(v) for k, v in params.items()}
    sse = 0.0
    for u, i, r in zip(users, items, ratings):
        pred = mu + bu[u] + bi[i] + P[u] @ Q[i]
        err = pred - r
        grads["P"][u] += err * Q[i] + reg * P[u]
        grads["Q"][i] += err * P[u] + reg * Q[i]
        grads["bu"][u] += err
        grads["bi"][i] += err
        sse += float(err) ** 2
    return grads, sse


def batch_gradients_array(params, mu, users, items, ratings, reg):
    P, Q, bu, bi = params["P"], params["Q"], params["bu"], params["bi"]
    grads = {k: np.zeros_like(v) for k, v in params.items()}
    pu, qi = P[users], Q[items]
    err = mu + bu[users] + bi[items] + (pu * qi).sum(1) - ratings
    np.add.at(grads["P"], users, err[:, None] * qi + reg * pu)
    np.add.at(grads["Q"], items, err[:, None] * pu + reg * qi)
    np.add.at(grads["bu"], users, err)
    np.add.at(grads["bi"], items, err)
    return grads, float((err.astype(np.float64) ** 2).sum())


def apply_update(params, velocity, grads, lr, momentum, count):
    for name, p in params.items():
        v = velocity[name]
        v *= momentum
        v -= (lr / count) * grads[name]
        p += v


def rmse(params, mu, users, items, ratings):
    pred = mu + params["bu"][users] + params["bi"][items] + (params["P"][users] * params["Q"][items]).sum(1)
    return float(np.sqrt(((pred - ratings) ** 2).mean()))


rng = np.random.default_rng(CONFIG["seed"])
users, items, ratings = make_ratings(CONFIG, rng)
held_out = rng.random(len(users)) < 0.1
train_u, train_i, train_r = users[~held_out], items[~held_out], ratings[~held_out]
test = users[held_out], items[held_out], ratings[held_out]
mu = train_r.mean()
params = init_params(CONFIG, rng)
velocity = {k: np.zeros_like(v) for k, v in params.items()}
gradients = batch_gradients_array if FAST else batch_gradients

print(f"{len(train_r)} training ratings, mean {mu:.3f}")
clock = StepClock()
for epoch in range(CONFIG["epochs"]):
    order = rng.permutation(len(train_r))
    total = 0.0
    for lo in range(0, len(order), CONFIG["batch_size"]):
        batch = order[lo:lo + CONFIG["batch_size"]]
        grads, sse = gradients(params, mu, train_u[batch], train_i[batch], train_r[batch], CONFIG["reg"])
        apply_update(params, velocity, grads, CONFIG["lr"], CONFIG["momentum"], len(batch) ** 0.5)
        total += sse
        clock.tick()
    print(f"epoch {epoch + 1:2d}  train rmse {np.sqrt(total / len(order)):.4f}  test rmse {rmse(params, mu, *test):.4f}")
clock.dump()
