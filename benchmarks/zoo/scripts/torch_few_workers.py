"""One worker fetches from slow storage what the model would take faster."""

import argparse
import time

import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {"id": "input-bound", "function": "RemotePatches.fetch", "framework": "torch"}

STORAGE_LATENCY_S = 0.002


class RemotePatches(Dataset):
    """Patches of a large picture, as they come from an object store with some latency."""

    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.blob = rng.normal(size=(512, 512)).astype(np.float32)
        self.corners = rng.integers(0, 512 - 40, (count, 2))

    def __len__(self):
        return len(self.corners)

    def fetch(self, index):
        time.sleep(STORAGE_LATENCY_S)
        y, x = self.corners[index]
        return self.blob[y : y + 32, x : x + 32]

    def __getitem__(self, index):
        patch = self.fetch(index)
        low, high = np.percentile(patch, [1, 99])
        clean = np.clip((patch - low) / (high - low), 0, 1).astype(np.float32)
        return torch.from_numpy(clean)[None], torch.tensor(clean.mean())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(
        RemotePatches(1600),
        batch_size=16,
        num_workers=6 if arguments.fixed else arguments.workers,
        shuffle=True,
    )
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3),
        nn.ReLU(),
        nn.Conv2d(16, 16, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 14 * 14, 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (patches, means) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(patches).squeeze(1), means)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.5f}")
        tick()


if __name__ == "__main__":
    main()
