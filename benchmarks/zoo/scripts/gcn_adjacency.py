"""A graph convolution network that normalises its adjacency in every forward pass."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "host-code",
    "function": ["normalised", "GraphNet.forward"],
    "framework": "torch",
}


def normalised(adjacency):
    """D^-1/2 (A + I) D^-1/2"""
    with_self = adjacency + torch.eye(len(adjacency))
    scale = with_self.sum(dim=1).pow(-0.5)
    return scale[:, None] * with_self * scale[None, :]


class GraphConvolution(nn.Module):
    def __init__(self, wide_in, wide_out):
        super().__init__()
        self.linear = nn.Linear(wide_in, wide_out)

    def forward(self, x, adjacency):
        return adjacency @ self.linear(x)


class GraphNet(nn.Module):
    def __init__(self, adjacency, once, width=32):
        super().__init__()
        self.adjacency = adjacency
        self.prepared = normalised(adjacency) if once else None
        self.first = GraphConvolution(48, width)
        self.second = GraphConvolution(width, 5)

    def forward(self, x):
        adjacency = normalised(self.adjacency) if self.prepared is None else self.prepared
        x = torch.relu(self.first(x, adjacency))
        x = nn.functional.dropout(x, 0.3, self.training)
        return self.second(x, adjacency)


def graph(count=1500):
    kind = torch.randint(0, 5, (count,))
    chance = torch.where(kind[:, None] == kind[None, :], 0.01, 0.002)
    links = (torch.rand(count, count) < chance).float()
    adjacency = ((links + links.T) > 0).float()
    features = torch.randn(5, 48)[kind] * 0.4 + torch.randn(count, 48)
    return adjacency, features, kind


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(8)
    adjacency, features, kind = graph()
    known = torch.rand(len(kind)) < 0.3
    model = GraphNet(adjacency, once=asked.fixed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(200):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features)[known], kind[known])
        loss.backward()
        optimizer.step()
        if epoch % 50 == 49:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
