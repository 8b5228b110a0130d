"""Metric learning on handwritten digits with hard negatives mined from a memory bank.

The bank keeps the last embedding of each training image. A table of each image's nearest
images of other classes is refreshed when the embeddings have drifted too far from it.
"""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

from step_clock import StepClock

ZOO = {"id": "slow-outlier-steps", "function": "HardNegativeBank.rebuild", "framework": "torch"}


class HardNegativeBank:
    def __init__(self, labels, dim, k=5, tolerance=12.0, vectorised=False):
        self.labels = labels
        self.k = k
        self.tolerance = tolerance
        self.vectorised = vectorised
        self.bank = F.normalize(torch.randn(len(labels), dim), dim=1)
        self.snapshot = self.bank.clone()
        self.neighbours = torch.randint(0, len(labels), (len(labels), k))
        self.drift = 0.0
        self.rebuilds = 0

    def update(self, index, embeddings):
        """Store new embeddings; rebuild the table when they moved away from the snapshot."""
        self.bank[index] = embeddings
        moved = (embeddings * self.snapshot[index]).sum(1)
        self.drift += float((1 - moved).mean())
        if self.drift > self.tolerance:
            self.rebuild()

    def rebuild(self):
        self.snapshot = self.bank.clone()
        self.drift = 0.0
        self.rebuilds += 1
        if self.vectorised:
            sims = self.bank @ self.bank.T
            sims[self.labels[:, None] == self.labels[None, :]] = -2.0
            self.neighbours = sims.topk(self.k, dim=1).indices
            return
        bank = self.bank.numpy()
        labels = self.labels.numpy()
        table = np.empty((len(bank), self.k), dtype=np.int64)
        for i, (row, label) in enumerate(zip(bank, labels, strict=True)):
            dist = np.sqrt(((bank - row) ** 2).sum(axis=1))
            dist[labels == label] = np.inf
            table[i] = np.argsort(dist)[: self.k]
        self.neighbours = torch.from_numpy(table)

    def sample(self, index):
        column = torch.randint(0, self.k, (len(index),))
        return self.neighbours[index, column]


class Embedder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
        )
        self.project = nn.Linear(48 * 16, dim)

    def forward(self, x):
        return F.normalize(self.project(self.features(x)), dim=1)


def positives(labels, by_class):
    return torch.stack([by_class[c][torch.randint(len(by_class[c]), ())] for c in labels.tolist()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--margin", type=float, default=0.3)
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_num_threads(1)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    by_class = [torch.nonzero(labels == c).flatten() for c in range(10)]

    net = Embedder()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)
    bank = HardNegativeBank(labels, dim=32, vectorised=args.fixed)

    clock = StepClock()
    for step in range(args.steps):
        anchor = torch.randint(0, len(images), (96,))
        positive = positives(labels[anchor], by_class)
        negative = bank.sample(anchor)
        out = net(images[torch.cat([anchor, positive, negative])])
        a, p, n = out.chunk(3)
        loss = F.relu(args.margin + (a * n).sum(1) - (a * p).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.update(torch.cat([anchor, positive]), torch.cat([a, p]).detach())
        if step % 100 == 99:
            print(f"{step + 1}: triplet loss {loss.item():.4f}, {bank.rebuilds} rebuilds")
        clock.tick()
    clock.dump()


if __name__ == "__main__":
    main()
