"""A running average of the weights is a deep copy and a state dict a step."""

import argparse
import copy

import torch
from timing import tick
from torch import nn

ZOO = {"id": "host-code", "function": "Average.update", "framework": "torch"}


class Average:
    """Exponential moving average of a model's weights."""

    def __init__(self, model, decay=0.99):
        self.decay = decay
        self.model = copy.deepcopy(model)

    def update(self, model):
        current = copy.deepcopy(model).state_dict()
        averaged = copy.deepcopy(self.model.state_dict())
        for name, value in current.items():
            averaged[name] = self.decay * averaged[name] + (1 - self.decay) * value
        self.model.load_state_dict(averaged)


class AverageInPlace(Average):
    @torch.no_grad()
    def update(self, model):
        torch._foreach_lerp_(
            list(self.model.parameters()), list(model.parameters()), 1 - self.decay
        )


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 2 * width)
        self.narrow = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.narrow(torch.relu(self.wide(self.norm(x))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(*[Block(256) for _ in range(8)], nn.Linear(256, 1))
    average = (AverageInPlace if arguments.fixed else Average)(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.005)
    x = torch.randn(4000, 256)
    y = torch.sin(x[:, :3].sum(dim=1, keepdim=True))
    for step in range(100):
        batch = torch.randint(0, 4000, (96,))
        loss = nn.functional.mse_loss(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        if step % 20 == 0:
            print(f"{step:3d} {loss.item():.4f}")
        tick()
    with torch.no_grad():
        print(f"averaged model: {nn.functional.mse_loss(average.model(x), y).item():.4f}")


if __name__ == "__main__":
    main()
