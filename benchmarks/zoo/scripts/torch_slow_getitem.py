"""Pictures are warped in __getitem__, by the training process itself."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {"id": "input-bound", "function": "Pictures.__getitem__", "framework": "torch"}


class Pictures(Dataset):
    """Coloured blobs, warped anew each time."""

    def __init__(self, count, size):
        rng = np.random.default_rng(0)
        self.labels = rng.integers(0, 5, count)
        self.pictures = rng.random((count, size, size, 3), dtype=np.float32)
        for picture, label in zip(self.pictures, self.labels, strict=True):
            picture[label * 8 : label * 8 + 16, 8:40, label % 3] += 1.0
        self.grid = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"))
        self.size = size

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        picture = self.pictures[index]
        bend = np.random.normal(0, 1.5, (2, self.size, self.size))
        bend = np.fft.irfft2(np.fft.rfft2(bend) * 0.2, s=(self.size, self.size))
        y, x = np.clip(self.grid + bend, 0, self.size - 1.001)
        top, left = y.astype(int), x.astype(int)
        down, right = (y - top)[..., None], (x - left)[..., None]
        upper = picture[top, left] * (1 - right) + picture[top, left + 1] * right
        lower = picture[top + 1, left] * (1 - right) + picture[top + 1, left + 1] * right
        warped = upper * (1 - down) + lower * down
        return torch.from_numpy(warped.transpose(2, 0, 1).astype(np.float32)), self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 24, 3, stride=2), nn.ReLU()
        )
        self.head = nn.Linear(24, 5)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    workers = 2 if parser.parse_args().fixed else 0
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Pictures(2400, 56), batch_size=32, shuffle=True, num_workers=workers)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step, (pictures, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print(step, f"{loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
