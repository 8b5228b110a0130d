"""Two loader workers that keep up with the model."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {"id": None, "function": None, "framework": "torch"}


class Flipped(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.labels = rng.integers(0, 3, count)
        self.pictures = rng.random((count, 3, 48, 48), dtype=np.float32)
        self.pictures[np.arange(count), self.labels] += 0.3

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        picture = self.pictures[index]
        if np.random.random() < 0.5:
            picture = picture[:, :, ::-1].copy()
        return torch.from_numpy(picture), self.labels[index]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(
        Flipped(1600), batch_size=32, num_workers=2, shuffle=True, persistent_workers=True
    )
    model = nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 5),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, 3),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for pictures, labels in loader:
            loss = nn.functional.cross_entropy(model(pictures), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            tick()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
