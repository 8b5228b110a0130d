"""The default type was set to double for a physics term, and the convolutions pay for it."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "float64-compute", "function": "Field.forward", "framework": "torch"}


class Field(nn.Module):
    """Guesses where a heat source is from the field around it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 24, 5, padding=2)
        self.second = nn.Conv2d(24, 24, 5, padding=2, stride=2)
        self.out = nn.Linear(24 * 16 * 16, 2)

    def forward(self, field):
        x = torch.relu(self.first(field))
        x = torch.relu(self.second(x))
        return self.out(x.flatten(1))


def make_fields(count, size=32):
    places = torch.rand(count, 2)
    grid = torch.linspace(0, 1, size)
    down = (grid[None, :] - places[:, :1]) ** 2
    right = (grid[None, :] - places[:, 1:]) ** 2
    fields = torch.exp(-(down[:, :, None] + right[:, None, :]) * 20)
    return (fields + 0.1 * torch.randn(count, size, size))[:, None], places


parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
if not parser.parse_args().fixed:
    torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
fields, places = make_fields(1500)
model = Field()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(80):
    batch = torch.randint(0, len(fields), (24,))
    guess = model(fields[batch])
    loss = ((guess - places[batch]) ** 2).sum(dim=1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.4f}")
    tick()
