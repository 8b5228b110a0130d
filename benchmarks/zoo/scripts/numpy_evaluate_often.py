"""The whole validation set is classified after every single step."""

import argparse

import numpy as np
from timing import tick

ZOO = {"id": "evaluation-stall", "function": "evaluate", "framework": "numpy"}


def make_data(rng):
    centres = rng.normal(size=(20, 128))
    labels = rng.integers(0, 20, 9000)
    inputs = centres[labels] + 2 * rng.normal(size=(9000, 128))
    x, y = inputs.astype(np.float32), labels
    return (x[:5000], y[:5000]), (x[5000:], y[5000:])


def softmax(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


class Model:
    def __init__(self, rng):
        self.w1 = (rng.normal(size=(128, 384)) * 0.09).astype(np.float32)
        self.w2 = (rng.normal(size=(384, 20)) * 0.05).astype(np.float32)

    def predict(self, x):
        self.hidden = np.maximum(x @ self.w1, 0)
        return softmax(self.hidden @ self.w2)

    def fit_batch(self, x, y, rate):
        p = self.predict(x)
        loss = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
        p[np.arange(len(y)), y] -= 1
        d_hidden = (p @ self.w2.T) * (self.hidden > 0)
        self.w2 -= rate * self.hidden.T @ p / len(y)
        self.w1 -= rate * x.T @ d_hidden / len(y)
        return loss


def evaluate(model, x, y):
    p = model.predict(x)
    return (p.argmax(axis=1) == y).mean()


def train(every):
    rng = np.random.default_rng(5)
    training, validation = make_data(rng)
    model = Model(rng)
    best = 0.0
    for step in range(1, 121):
        batch = rng.integers(0, len(training[1]), 1024)
        loss = model.fit_batch(training[0][batch], training[1][batch], rate=0.3)
        if step % every == 0:
            best = max(best, evaluate(model, *validation))
        if step % 30 == 0:
            print(f"{step}: loss {loss:.3f}, best {best:.1%}")
        tick()


parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
train(every=60 if parser.parse_args().fixed else 1)
