"""A Q-learner whose memory of visited states is turned into an array now and then."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "slow-outlier-steps",
    "function": ["Memory.refresh", "Memory.novelty"],
    "framework": "torch",
    "also": ["memory-growth"],
}


class Memory:
    """States seen so far; the bonus for a new one comes from its distance to their average."""

    def __init__(self, capacity, grown):
        self.rows = [] if grown else None
        self.array = np.zeros((capacity, 6))
        self.filled = 0

    def add(self, states):
        if self.rows is not None:
            self.rows.extend(map(tuple, states))
        else:
            self.array[self.filled : self.filled + len(states)] = states
        self.filled += len(states)

    def refresh(self):
        seen = np.array(self.rows) if self.rows is not None else self.array[: self.filled]
        self.middle, self.spread = seen.mean(axis=0), seen.std(axis=0) + 1e-6

    def novelty(self, states):
        return np.abs((states - self.middle) / self.spread).mean(axis=1)


class Carts:
    """Many carts at once, each pushed to the left or to the right."""

    def __init__(self, count, rng):
        self.rng = rng
        self.states = rng.normal(0, 0.1, (count, 6))

    def step(self, pushes):
        self.states[:, 3:] += 0.05 * (2 * pushes[:, None] - 1) - 0.1 * self.states[:, :3]
        self.states[:, :3] += 0.1 * self.states[:, 3:]
        self.states += self.rng.normal(0, 0.01, self.states.shape)
        return -np.abs(np.tanh(self.states[:, 0]))


class Agent:
    def __init__(self, memory):
        self.memory = memory
        self.q = nn.Sequential(nn.Linear(6, 256), nn.Tanh(), nn.Linear(256, 2))
        self.optimizer = torch.optim.SGD(self.q.parameters(), lr=0.01)

    def act(self, states):
        with torch.no_grad():
            return self.q(torch.tensor(states, dtype=torch.float32)).argmax(dim=1).numpy()

    def learn(self, before, pushes, rewards, after):
        before, after = (torch.tensor(each, dtype=torch.float32) for each in (before, after))
        with torch.no_grad():
            target = torch.tensor(rewards, dtype=torch.float32) + 0.9 * self.q(after).amax(dim=1)
        taken = self.q(before).gather(1, torch.from_numpy(pushes)[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(taken, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(15)
    rng = np.random.default_rng(15)
    memory = Memory(200_000, grown=not asked.fixed)
    memory.add(rng.normal(0, 0.1, (30_000, 6)))
    memory.refresh()
    carts, agent = Carts(512, rng), Agent(memory)
    for number in range(1, 301):
        before = carts.states.copy()
        pushes = agent.act(before)
        rewards = carts.step(pushes) + 0.1 * memory.novelty(carts.states)
        loss = agent.learn(before, pushes, rewards, carts.states)
        memory.add(before)
        if number % 50 == 0:
            memory.refresh()
        if number % 100 == 0:
            print(f"{number}: {loss:.4f}")
        tick()


if __name__ == "__main__":
    main()
