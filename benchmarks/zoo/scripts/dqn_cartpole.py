"""Deep Q-learning on a CartPole written out by hand."""
import gc
import math
import random
import sys
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn

from timing import tick

ZOO = {"id": "gc-pressure", "function": ["Agent.learn", "Agent.release"], "framework": "torch"}

Transition = namedtuple("Transition", "state action reward next_state done")


class CartPole:
    gravity, masscart, masspole, length, force, tau = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = [self.rng.uniform(-0.05, 0.05) for _ in range(4)]
        self.steps = 0
        return list(self.state)

    def step(self, action):
        x, v, theta, omega = self.state
        force = self.force if action == 1 else -self.force
        cos, sin = math.cos(theta), math.sin(theta)
        total = self.masscart + self.masspole
        temp = (force + self.masspole * self.length * omega ** 2 * sin) / total
        alpha = (self.gravity * sin - cos * temp) / (self.length * (4 / 3 - self.masspole * cos ** 2 / total))
        acc = temp - self.masspole * self.length * alpha * cos / total
        self.state = [x + self.tau * v, v + self.tau * acc, theta + self.tau * omega, omega + self.tau * alpha]
        self.steps += 1
        failed = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.2095
        return list(self.state), 1.0, failed, failed or self.steps >= 200


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, count, rng):
        picks = [self.memory[rng.randrange(len(self.memory))] for _ in range(count)]
        batch = Transition(*zip(*picks))
        return (torch.tensor(batch.state), torch.tensor(batch.action), torch.tensor(batch.reward),
                torch.tensor(batch.next_state), torch.tensor(batch.done, dtype=torch.float32))

    def __len__(self):
        return len(self.memory)


class Agent:
    def __init__(self, rng, collect_every, hidden=256, gamma=0.99, batch=256):
        self.rng, self.gamma, self.batch, self.collect_every = rng, gamma, batch, collect_every
        net = lambda: nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2))
        self.policy, self.target = net(), net()
        self.target.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=5e-4, fused=True)
        self.memory = ReplayMemory(50_000)
        self.updates = 0

    def act(self, state, epsilon):
        if self.rng.random() < epsilon:
            return self.rng.randrange(2)
        with torch.no_grad():
            return int(self.policy(torch.tensor(state)).argmax())

    def learn(self):
        s, a, r, s2, done = self.memory.sample(self.batch, self.rng)
        with torch.no_grad():
            best = self.policy(s2).argmax(1, keepdim=True)
            target = r + self.gamma * (1 - done) * self.target(s2).gather(1, best).squeeze(1)
        value = self.policy(s).gather(1, a[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 100 == 0:
            self.target.load_state_dict(self.policy.state_dict())
        self.release()
        return loss.item()

    def release(self):
        """Give the memory of the finished batch back."""
        if self.collect_every and self.updates % self.collect_every == 0:
            gc.collect()


def warm_up(env, memory, count, rng):
    state = env.reset()
    for _ in range(count):
        action = rng.randrange(2)
        nxt, reward, failed, over = env.step(action)
        memory.push(state, action, reward, nxt, failed)
        state = env.reset() if over else nxt


def train(updates=400, train_freq=4):
    rng = random.Random(4)
    torch.manual_seed(4)
    env = CartPole(rng)
    agent = Agent(rng, collect_every=0 if "--fixed" in sys.argv else 8)
    warm_up(env, agent.memory, 30_000, rng)
    returns, losses, state, total = deque(maxlen=20), [], env.reset(), 0.0
    while agent.updates < updates:
        for _ in range(train_freq):
            action = agent.act(state, max(0.05, 1 - agent.updates / 200))
            nxt, reward, failed, over = env.step(action)
            agent.memory.push(state, action, reward, nxt, failed)
            total += reward
            state = nxt
            if over:
                returns.append(total)
                state, total = env.reset(), 0.0
        losses.append(agent.learn())
        tick()
        if agent.updates % 100 == 0:
            print(f"update {agent.updates}: loss {np.mean(losses[-100:]):.4f}, mean return {np.mean(returns):.1f}")


if __name__ == "__main__":
    train()
