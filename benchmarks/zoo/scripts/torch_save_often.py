"""Model and optimizer are saved after every third step, under a new name."""

import argparse
import os

import torch
from timing import tick
from torch import nn

ZOO = {"id": "checkpoint-stall", "function": "Trainer.save", "framework": "torch"}


class Trainer:
    def __init__(self, model, save_every):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        self.save_every = save_every
        self.done = 0

    def save(self):
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        path = f"checkpoint-{self.done % 3}.pt"
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.done += 1
        if self.done % self.save_every == 0:
            self.save()
        return loss.item()

    def fit(self, x, y, steps):
        for step in range(steps):
            batch = torch.randint(0, len(y), (48,))
            loss = self.step(x[batch], y[batch])
            if step % 20 == 0:
                print(f"step {step} loss {loss:.3f}")
            tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
    )
    y = torch.randint(0, 10, (5000,))
    x = torch.randn(10, 512)[y] + 2 * torch.randn(5000, 512)
    Trainer(model, save_every=100 if arguments.fixed else 3).fit(x, y, steps=100)


if __name__ == "__main__":
    main()
