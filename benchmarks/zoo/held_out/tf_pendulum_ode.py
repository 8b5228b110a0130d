"""Neural ODE for a damped pendulum: a learned vector field, integrated with Runge-Kutta steps."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from timing import tick

ZOO = {
    "id": "eager-overhead",
    "function": ["train_step", "rk4", "rollout", "VectorField.__call__"],
    "framework": "tensorflow",
}

DT = 0.1
HORIZON = 6


class VectorField(tf.Module):
    def __init__(self, hidden=64):
        super().__init__()
        init = tf.random_normal_initializer(stddev=0.2, seed=1)
        self.w1 = tf.Variable(init((2, hidden)), name="w1")
        self.b1 = tf.Variable(tf.zeros(hidden), name="b1")
        self.w2 = tf.Variable(init((hidden, hidden)), name="w2")
        self.b2 = tf.Variable(tf.zeros(hidden), name="b2")
        self.w3 = tf.Variable(init((hidden, 2)), name="w3")

    def __call__(self, state):
        h = tf.tanh(state @ self.w1 + self.b1)
        h = tf.tanh(h @ self.w2 + self.b2)
        return h @ self.w3


def rk4(field, state):
    k1 = field(state)
    k2 = field(state + 0.5 * DT * k1)
    k3 = field(state + 0.5 * DT * k2)
    k4 = field(state + DT * k3)
    return state + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def rollout(field, state):
    states = []
    for _ in range(HORIZON):
        state = rk4(field, state)
        states.append(state)
    return tf.stack(states, axis=1)


def pendulum(n, rng):
    """True trajectories with a fine integrator: start states and the HORIZON states after them."""
    state = rng.uniform(-1.5, 1.5, size=(n, 2))
    path = [state]
    for _ in range(HORIZON):
        for _ in range(20):
            angle, speed = state[:, 0], state[:, 1]
            slope = np.stack([speed, -np.sin(angle) - 0.1 * speed], axis=1)
            state = state + DT / 20 * slope
        path.append(state)
    path = np.stack(path, axis=1).astype("float32")
    return path[:, 0], path[:, 1:]


def train_step(field, optimizer, start, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(rollout(field, start) - target))
    variables = field.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=512)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    start, target = pendulum(4096, rng)
    field = VectorField()
    optimizer = tf.keras.optimizers.Adam(3e-3)
    optimizer.build(field.trainable_variables)
    step_function = tf.function(train_step) if args.fixed else train_step

    for step in range(args.steps):
        rows = rng.integers(len(start), size=args.batch)
        loss = step_function(field, optimizer, tf.constant(start[rows]), tf.constant(target[rows]))
        if step % 30 == 0:
            print(f"step {step:4d} loss {float(loss):.5f}")
        tick()


if __name__ == "__main__":
    main()
