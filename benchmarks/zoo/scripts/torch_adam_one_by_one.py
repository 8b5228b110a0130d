"""Adam, as torch makes it by default on a CPU, walks through hundreds of small parameters."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "optimizer-unfused", "function": "train", "framework": "torch"}


class Experts(nn.Module):
    """A hundred small experts, mixed: batched by torch.bmm, so that only Adam sees the many."""

    def __init__(self, experts=120, width=24):
        super().__init__()
        self.first = nn.ParameterList(torch.randn(width, width) * 0.2 for _ in range(experts))
        self.bias = nn.ParameterList(torch.zeros(1, width) for _ in range(experts))
        self.second = nn.ParameterList(torch.randn(width, 1) * 0.2 for _ in range(experts))

    def forward(self, x):
        x = x.expand(len(self.first), -1, -1)
        hidden = torch.tanh(
            torch.bmm(x, torch.stack(list(self.first))) + torch.stack(list(self.bias))
        )
        return torch.bmm(hidden, torch.stack(list(self.second))).mean(dim=0)


def train(steps, **options):
    torch.manual_seed(0)
    model = Experts()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, **options)
    for step in range(steps):
        x = torch.randn(64, 24)
        y = torch.sin(x[:, :2].sum(dim=1, keepdim=True))
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")
        tick()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    train(150, **({"fused": True} if parser.parse_args().fixed else {}))
