"""DDPG with prioritised replay: a point mass learns to stop, from what random actions did."""

import argparse
import copy
import random
import time
from collections import deque

import numpy as np
import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "host-code",
    "also": ["input-bound"],
    "function": "DequeReplay.sample",
    "framework": "torch",
}

GAMMA, TAU, BATCH, CAPACITY, STEPS = 0.98, 0.01, 256, 30_000, 400


class DequeReplay:
    def __init__(self, maxlen):
        self.buffer, self.priorities = deque(maxlen=maxlen), deque(maxlen=maxlen)

    def add(self, *transition):
        self.buffer.append(transition)
        self.priorities.append(1.0)

    def sample(self, size, scale=0.7):
        scaled = np.array(self.priorities) ** scale
        chosen = random.choices(range(len(scaled)), k=size, weights=scaled / scaled.sum())
        columns = zip(*[self.buffer[i] for i in chosen], strict=True)
        return chosen, [torch.as_tensor(np.array(column, np.float32)) for column in columns]

    def set_priorities(self, chosen, errors, offset=0.1):
        for i, error in zip(chosen, errors, strict=True):
            self.priorities[i] = abs(error) + offset


class ArrayReplay:
    def __init__(self, maxlen):
        self.rows = np.zeros((maxlen, 16), np.float32)
        self.scaled, self.count = np.zeros(maxlen), 0

    def add(self, state, action, reward, after):
        at = self.count % len(self.scaled)
        self.rows[at] = *state, *action, reward, *after
        self.scaled[at] = 1.0
        self.count += 1

    def sample(self, size):
        edges = np.cumsum(self.scaled)
        chosen = np.searchsorted(edges, np.random.rand(size) * edges[-1])
        s, a, r, after = torch.from_numpy(self.rows[chosen]).split([6, 3, 1, 6], dim=1)
        return chosen, (s, a, r[:, 0], after)

    def set_priorities(self, chosen, errors, offset=0.1):
        self.scaled[chosen] = (np.abs(errors) + offset) ** 0.7


def mlp(n_in, n_out, last, width=256):
    hidden = [nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(width, n_out), last)


class DDPG:
    def __init__(self):
        self.actor, self.critic = mlp(6, 3, nn.Tanh()), mlp(9, 1, nn.Flatten(0))
        self.new = nn.ModuleList([self.actor, self.critic])
        self.old = copy.deepcopy(self.new)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=3e-4, fused=True)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3, fused=True)

    def update(self, states, actions, rewards, nexts):
        old_actor, old_critic = self.old
        with torch.no_grad():
            wanted = rewards + GAMMA * old_critic(torch.cat([nexts, old_actor(nexts)], 1))
        errors = self.critic(torch.cat([states, actions], 1)) - wanted
        self.critic_opt.zero_grad()
        (errors**2).mean().backward()
        self.critic_opt.step()
        value = self.critic(torch.cat([states, self.actor(states)], 1)).mean()
        self.actor_opt.zero_grad()
        (-value).backward()
        self.actor_opt.step()
        with torch.no_grad():
            for slow, fast in zip(self.old.parameters(), self.new.parameters(), strict=True):
                slow.lerp_(fast, TAU)
        return errors.detach().numpy()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="replay of arrays")
    replay = (ArrayReplay if parser.parse_args().fixed else DequeReplay)(CAPACITY)
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    agent, begin = DDPG(), None
    for step in range(1 - CAPACITY, STEPS + 1):
        if step % 60 == 1:
            state = np.random.uniform(-1, 1, 6).astype(np.float32)
        action = np.random.uniform(-1, 1, 3).astype(np.float32)
        speed = 0.95 * state[3:] + 0.1 * action
        after = np.concatenate([state[:3] + 0.1 * speed, speed]).astype(np.float32)
        replay.add(state, action, -np.abs(after).sum(), after)
        state = after
        if step <= 0:
            continue
        begin = begin or time.time()
        chosen, batch = replay.sample(BATCH)
        errors = agent.update(*batch)
        replay.set_priorities(chosen, errors)
        tick()
        if step % 100 == 0:
            ms = 1000 * (time.time() - begin) / step
            print(f"step {step}  TD error {np.abs(errors).mean():.3f}  {ms:.1f} ms/step")
