"""A graph network whose base class, in another file, keeps the graph in double precision."""

import argparse

import numpy as np
import torch
from loops.graph import GraphModule
from timing import tick
from torch import nn

ZOO = {
    "id": "float64-compute",
    "function": ["GraphModule.neighbours"],
    "framework": "torch",
}


class Citations(GraphModule):
    """Two hops, then the topic of each paper."""

    def __init__(self, adjacency, single, width=96):
        super().__init__(adjacency, single)
        self.inward = nn.Linear(64, width)
        self.middle = nn.Linear(width, width)
        self.outward = nn.Linear(width, 7)

    def forward(self, features):
        x = torch.relu(self.inward(features))
        for _ in range(2):
            x = x + torch.relu(self.middle(self.neighbours(x)))
        return self.outward(x)


def papers(rng, count=500):
    """Papers cite their own topic more than others."""
    topic = rng.integers(0, 7, count)
    chance = np.where(topic[:, None] == topic[None, :], 0.02, 0.006)
    links = np.triu(rng.random((count, count)) < chance, 1)
    features = rng.normal(size=(7, 64))[topic] * 0.3 + rng.normal(size=(count, 64))
    adjacency = (links + links.T).astype(float) + np.eye(count)
    return adjacency, torch.tensor(features, dtype=torch.float32), torch.tensor(topic)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(1)
    adjacency, features, topic = papers(np.random.default_rng(1))
    network = Citations(adjacency, single=asked.fixed)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    known = torch.arange(len(topic)) % 3 == 0
    for epoch in range(100):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(features)[known], topic[known])
        loss.backward()
        optimizer.step()
        if epoch % 25 == 24:
            print(f"epoch {epoch + 1}: {loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
