"""Trainings in torch that keep what a step made, and some that do not: keeps_memory.py KIND"""

import sys

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
STEPS = 60
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
targets = torch.randint(0, 8, (512,))


def update(loss, **more):
    optimizer.zero_grad()
    loss.backward(**more)
    optimizer.step()


def graph():
    losses = []
    for _ in range(STEPS):
        loss = nn.functional.cross_entropy(model(torch.randn(512, 64)), targets)
        update(loss)
        penalty = model(torch.randn(512, 64)).square().mean()
        losses.append(penalty)


class Outputs:
    def __init__(self):
        self.seen = []

    def keep(self, hidden):
        self.seen.append(hidden)


def outputs():
    kept = Outputs()
    for _ in range(STEPS):
        x = torch.randn(512, 64)
        loss = nn.functional.cross_entropy(model(x), targets)
        update(loss)
        kept.keep(model[0](x).detach())


def retained():
    state = torch.zeros(512, 64)
    for _ in range(STEPS):
        state = torch.tanh(state + torch.randn(512, 64) * model[0].weight.mean())
        update(state.mean(), retain_graph=True)


def healthy():
    losses, kept = [], None
    for _ in range(STEPS):
        loss = nn.functional.cross_entropy(model(torch.randn(512, 64)), targets)
        update(loss)
        kept = loss.item()
        losses.append(kept)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
