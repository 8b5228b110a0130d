"""REINFORCE on a corridor: the policy is asked again for each state of the episode, one by one."""

import argparse
import random

import torch
from timing import tick
from torch import nn
from torch.distributions import Categorical

ZOO = {
    "id": "python-hot-loop",
    "also": ["eager-overhead"],
    "function": ["Agent.learn", "Agent.one_by_one", "Policy.forward"],
    "framework": "torch",
}


class Corridor:
    """Walk to the right end of a windy corridor."""

    def __init__(self, length=24):
        self.length = length

    def reset(self):
        self.place, self.wind = 0, random.random()
        return self.seen()

    def seen(self):
        return [self.place / self.length, self.wind, 1.0, random.random()]

    def step(self, action):
        move = 1 if action else -1
        if random.random() < 0.2 * self.wind:
            move = -move
        self.place = max(0, self.place + move)
        done = self.place >= self.length
        return self.seen(), 10.0 if done else -0.1, done


class Policy(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.inward, self.outward = nn.Linear(4, width), nn.Linear(width, 2)

    def forward(self, state):
        return Categorical(logits=self.outward(torch.tanh(self.inward(state))))


class Agent:
    def __init__(self, batched):
        self.policy, self.batched = Policy(), batched
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=2e-3, fused=True)

    @torch.no_grad()
    def act(self, states):
        return self.policy(torch.tensor(states)).sample().tolist()

    def one_by_one(self, states, actions, returns):
        losses = []
        for state, action, reward in zip(states, actions, returns):
            chosen = self.policy(torch.tensor(state))
            losses.append(-chosen.log_prob(torch.tensor(action)) * reward)
        return torch.stack(losses).mean()

    def all_at_once(self, states, actions, returns):
        chosen = self.policy(torch.tensor(states))
        return -(chosen.log_prob(torch.tensor(actions)) * torch.tensor(returns)).mean()

    def learn(self, *episode):
        loss = (self.all_at_once if self.batched else self.one_by_one)(*episode)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def episodes(agent, worlds, length=40):
    """Of several corridors that are walked side by side."""
    seen = [world.reset() for world in worlds]
    states, actions, rewards = [], [], []
    for _ in range(length):
        chosen = agent.act(seen)
        states += seen
        actions += chosen
        walked = [world.step(action) for world, action in zip(worlds, chosen)]
        seen = [world.reset() if done else state for world, (state, _, done) in zip(worlds, walked)]
        rewards.append([reward for _, reward, _ in walked])
    returns, total = [], [0.0] * len(worlds)
    for row in reversed(rewards):
        total = [reward + 0.95 * later for reward, later in zip(row, total)]
        returns = total + returns
    return states, actions, returns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(4)
    random.seed(4)
    agent, worlds = Agent(asked.fixed), [Corridor() for _ in range(8)]
    for number in range(100):
        loss = agent.learn(*episodes(agent, worlds))
        if number % 25 == 24:
            print(f"update {number + 1}: {loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
