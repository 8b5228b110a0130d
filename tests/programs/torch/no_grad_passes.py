"""Passes without gradients in all kinds of trainings: for what they are made decides their name."""

import copy
import sys

import numpy as np
import torch
from torch import nn

ROUNDS = 8
torch.manual_seed(0)
torch.set_num_threads(1)
random = np.random.default_rng(0)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))

    def forward(self, x):
        return self.layers(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
x, y = torch.randn(256, 64), torch.randn(256, 64)


def simulate(state, action):
    """A physical world in NumPy: the expensive part."""
    for _ in range(40):
        state = np.tanh(state + 0.1 * random.standard_normal(64) + 0.01 * action)
    return state


def rollout(steps):
    state, seen = np.zeros(64), []
    for _ in range(steps):
        with torch.no_grad():
            action = net(torch.from_numpy(state).float()).numpy()
        seen.append(state)
        state = simulate(state, action)
    return torch.from_numpy(np.array(seen)).float()


def update(inputs, targets):
    optimizer.zero_grad()
    loss = ((net(inputs) - targets) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss


@torch.no_grad()
def validate(batches=10):
    net.eval()
    losses = [float(((net(x) - y) ** 2).mean()) for _ in range(batches)]
    net.train()
    return sum(losses)


def reinforce():
    for _ in range(40):
        states = rollout(20)
        update(states, torch.zeros_like(states))


def replay():
    """Acts in every turn, learns in every fourth."""
    state, memory = np.zeros(64), []
    for turn in range(160):
        with torch.no_grad():
            action = net(torch.from_numpy(state).float()).numpy()
        memory.append(state)
        state = simulate(state, action)
        if turn % 4 == 3:
            batch = torch.from_numpy(np.array(memory[-64:])).float()
            update(batch, torch.zeros_like(batch))


def actor_critic():
    for _ in range(ROUNDS):
        states = rollout(100)
        for _ in range(3):
            for first in range(0, 100, 20):
                batch = states[first : first + 20]
                update(batch, torch.zeros_like(batch))


def pseudo_labels():
    loader = torch.utils.data.DataLoader(torch.randn(400, 64), batch_size=20)
    for _ in range(ROUNDS):
        with torch.no_grad():
            labels = torch.cat([net(batch) for batch in loader])
        for first in range(0, 400, 40):
            update(torch.randn(40, 64), labels[first : first + 40])


def mean_teacher():
    teacher = copy.deepcopy(net)
    for _ in range(40):
        with torch.no_grad():
            wanted = teacher(x)
        update(x, wanted)
        with torch.no_grad():
            for mine, its in zip(teacher.parameters(), net.parameters(), strict=True):
                mine.lerp_(its, 0.01)


def each_epoch():
    for _ in range(ROUNDS):
        for _ in range(10):
            update(x, y)
        validate()


def each_epoch_and_before():
    validate()
    each_epoch()


def every_tenth_step():
    for step in range(80):
        if step % 10 == 0:
            validate()
        update(x, y)


def after_every_step():
    for _ in range(40):
        update(x, y)
        validate(2)


def actor_critic_with_test():
    for _ in range(ROUNDS):
        states = rollout(60)
        for first in range(0, 60, 6):
            batch = states[first : first + 6]
            update(batch, torch.zeros_like(batch))
        validate(20)


def tried_out():
    """A summary of the model before it is trained."""
    with torch.no_grad():
        for _ in range(60):
            net(torch.cat([x] * 8))
    for _ in range(40):
        update(x, y)


globals()[sys.argv[1]]()
