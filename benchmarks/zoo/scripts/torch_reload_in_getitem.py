"""A PyTorch data set that opens its archive again for every sample."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {"id": "repeated-load", "function": "Spectra.__getitem__", "framework": "torch"}


def make_archive(path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 6, 1200)
    spectra = rng.normal(0, 1, (1200, 200)).astype(np.float32)
    spectra += np.sin(np.outer(labels + 1, np.linspace(0, 6, 200))).astype(np.float32)
    np.savez(path, spectra=spectra, labels=labels)


class Spectra(Dataset):
    def __init__(self, path, hold):
        self.path = path
        self.held = dict(np.load(path)) if hold else None
        self.count = 1200

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        data = self.held or np.load(self.path)
        return torch.from_numpy(data["spectra"][index]), int(data["labels"][index])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    make_archive("spectra.npz")
    loader = DataLoader(Spectra("spectra.npz", arguments.fixed), batch_size=40, shuffle=True)
    model = nn.Sequential(
        nn.Unflatten(1, (1, 200)),
        nn.Conv1d(1, 48, 9, padding=4),
        nn.ReLU(),
        nn.Conv1d(48, 48, 9, padding=4),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(8),
        nn.Flatten(),
        nn.Linear(384, 6),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(3):
        for spectra, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(spectra), labels)
            loss.backward()
            optimizer.step()
            tick()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
