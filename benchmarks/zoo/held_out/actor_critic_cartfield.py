"""Advantage actor-critic with GAE on a vectorised point-mass task (TensorFlow 2)."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

from step_clock import StepClock

ZOO = {
    "id": "python-hot-loop",
    "function": "generalised_advantages",
    "framework": "tensorflow",
}

FIXED = False


class PointMassField:
    """N point masses that are to reach the origin; five discrete thrusts."""

    THRUST = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=np.float32)

    def __init__(self, n, seed=0):
        self.rng = np.random.default_rng(seed)
        self.state = self._fresh(n)

    def _fresh(self, n):
        return self.rng.uniform(-1, 1, (n, 4)).astype(np.float32)

    def step(self, action):
        pos, vel = self.state[:, :2], self.state[:, 2:]
        vel = 0.95 * vel + 0.1 * self.THRUST[action]
        pos = pos + 0.1 * vel
        reward = -np.abs(pos).sum(1)
        done = (np.abs(pos).max(1) > 2) | (self.rng.random(len(pos)) < 0.01)
        self.state = np.concatenate([pos, vel], axis=1)
        self.state[done] = self._fresh(int(done.sum()))
        return self.state, reward, done.astype(np.float32)


def generalised_advantages(rewards, values, dones, last_value, gamma=0.98, lam=0.95):
    horizon, n = rewards.shape
    advantages = np.zeros_like(rewards)
    if FIXED:
        running, following = np.zeros(n, np.float32), last_value
        for t in range(horizon - 1, -1, -1):
            alive = 1.0 - dones[t]
            delta = rewards[t] + gamma * following * alive - values[t]
            running = delta + gamma * lam * alive * running
            advantages[t], following = running, values[t]
        return advantages
    for i in range(n):
        running, following = 0.0, last_value[i]
        for t in range(horizon - 1, -1, -1):
            alive = 1.0 - dones[t, i]
            delta = rewards[t, i] + gamma * following * alive - values[t, i]
            running = delta + gamma * lam * alive * running
            advantages[t, i] = running
            following = values[t, i]
    return advantages


class Agent(tf.Module):
    def __init__(self, hidden=96):
        super().__init__()
        init = tf.keras.initializers.GlorotUniform(seed=3)
        self.w1 = tf.Variable(init((4, hidden)))
        self.b1 = tf.Variable(tf.zeros(hidden))
        self.w2 = tf.Variable(init((hidden, hidden)))
        self.b2 = tf.Variable(tf.zeros(hidden))
        self.w3 = tf.Variable(init((hidden, 6)))
        self.optimizer = tf.keras.optimizers.Adam(1e-3)
        self.optimizer.build(self.trainable_variables)

    def heads(self, obs):
        h = tf.tanh(obs @ self.w1 + self.b1)
        h = tf.tanh(h @ self.w2 + self.b2)
        out = h @ self.w3
        return out[:, :5], out[:, 5]

    @tf.function(reduce_retracing=True)
    def act(self, obs):
        logits, value = self.heads(obs)
        return tf.random.categorical(logits, 1)[:, 0], value

    @tf.function(reduce_retracing=True)
    def learn(self, obs, actions, advantages, returns):
        with tf.GradientTape() as tape:
            logits, value = self.heads(obs)
            logp = tf.nn.log_softmax(logits)
            chosen = tf.gather(logp, actions, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logp) * logp, axis=1))
            critic = tf.reduce_mean(tf.square(returns - value))
            loss = -tf.reduce_mean(chosen * advantages) + 0.5 * critic - 0.01 * entropy
        variables = self.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables, strict=True))
        return loss


def main():
    global FIXED
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--updates", type=int, default=160)
    parser.add_argument("--envs", type=int, default=768)
    parser.add_argument("--horizon", type=int, default=16)
    args = parser.parse_args()
    FIXED = args.fixed

    tf.random.set_seed(1)
    env, agent = PointMassField(args.envs), Agent()
    obs = env.state
    clock = StepClock()
    for update in range(args.updates):
        track = {"obs": [], "action": [], "value": [], "reward": [], "done": []}
        for _ in range(args.horizon):
            action, value = agent.act(tf.constant(obs))
            action = action.numpy()
            following, reward, done = env.step(action)
            row = (obs, action, value.numpy(), reward, done)
            for key, item in zip(track, row, strict=True):
                track[key].append(item)
            obs = following
        data = {key: np.stack(rows) for key, rows in track.items()}
        last_value = agent.act(tf.constant(obs))[1].numpy()
        adv = generalised_advantages(data["reward"], data["value"], data["done"], last_value)
        returns = (adv + data["value"]).reshape(-1)
        flat = ((adv - adv.mean()) / (adv.std() + 1e-6)).reshape(-1)
        agent.learn(data["obs"].reshape(-1, 4), data["action"].reshape(-1), flat, returns)
        if (update + 1) % 40 == 0:
            print(f"update {update + 1}: mean reward {data['reward'].mean():.3f}")
        clock.tick()
    clock.dump()


if __name__ == "__main__":
    main()
