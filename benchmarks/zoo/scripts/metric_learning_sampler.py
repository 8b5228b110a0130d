"""A batch sampler sums up the weights of all samples again before it draws each batch."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

ZOO = {
    "id": "input-bound",
    "function": ["WeightedBatches.__iter__", "WeightedBatches.borders"],
    "framework": "torch",
}


class WeightedBatches(Sampler):
    """Rare classes as often as common ones."""

    def __init__(self, labels, size, count, keep):
        self.labels, self.size, self.count, self.keep = labels, size, count, keep
        self.kept = None

    def borders(self):
        """Where each sample ends on a line from 0 to 1."""
        if self.kept is None or not self.keep:
            _, which, counts = np.unique(self.labels, return_inverse=True, return_counts=True)
            self.kept = np.cumsum(1 / counts[which])
            self.kept /= self.kept[-1]
        return self.kept

    def __len__(self):
        return self.count

    def __iter__(self):
        rng = np.random.default_rng(12)
        for _ in range(self.count):
            yield np.searchsorted(self.borders(), rng.random(self.size)).tolist()


class Faces(Dataset):
    def __init__(self, count=60_000):
        rng = np.random.default_rng(13)
        self.labels = np.minimum(rng.zipf(1.5, count), 50) - 1
        self.prototypes = torch.tensor(rng.normal(size=(50, 128)), dtype=torch.float32)

    def __len__(self):
        return len(self.labels)

    def __getitems__(self, rows):
        labels = torch.from_numpy(self.labels[rows])
        noise = torch.randn(len(rows), 128, generator=torch.Generator().manual_seed(rows[0]))
        return self.prototypes[labels] + noise, labels


def triplet_loss(points, labels):
    """The farthest of the same class and the nearest of another one, for each sample."""
    distance = torch.cdist(points, points)
    same = labels[:, None] == labels[None, :]
    far = distance.masked_fill(~same, 0).amax(dim=1)
    near = distance.masked_fill(same, 1e6).amin(dim=1)
    return torch.relu(far - near + 1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(12)
    faces = Faces()
    batches = WeightedBatches(faces.labels, 128, 150, keep=asked.fixed)
    loader = DataLoader(faces, batch_sampler=batches, collate_fn=lambda batch: batch)
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 32))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for number, (pictures, labels) in enumerate(loader):
        loss = triplet_loss(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 50 == 49:
            print(f"{number + 1}: {loss.item():.4f}")
        tick()


if __name__ == "__main__":
    main()
