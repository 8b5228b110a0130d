"""Sixteen networks train side by side, in as many threads, each with a team of its own."""

import argparse
from concurrent.futures import ThreadPoolExecutor

import torch
from timing import tick
from torch import nn

ZOO = {"id": "thread-oversubscription", "function": None, "framework": "torch"}


class Member:
    """A network that sees its own part of each batch."""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.chosen = torch.randperm(1024)[:640]
        self.network = nn.Sequential(nn.Linear(64, 160), nn.Sigmoid(), nn.Linear(160, 1))
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01)

    def learn(self, x, y):
        loss = nn.functional.mse_loss(self.network(x[self.chosen]), y[self.chosen])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


class Ensemble:
    def __init__(self, members, threads):
        self.members = [Member(seed) for seed in range(members)]
        self.pool = ThreadPoolExecutor(threads)

    def learn(self, x, y):
        return list(self.pool.map(lambda member: member.learn(x, y), self.members))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1 if asked.fixed else 8)
    ensemble = Ensemble(16, threads=2 if asked.fixed else 16)
    source = torch.Generator().manual_seed(16)
    for number in range(120):
        x = torch.randn(1024, 64, generator=source)
        losses = ensemble.learn(x, x[:, :2].prod(dim=1, keepdim=True))
        if number % 40 == 39:
            print(f"{number + 1}: {sum(losses) / 16:.4f}")
        tick()


if __name__ == "__main__":
    main()
