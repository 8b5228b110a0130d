"""A list of transforms whose first one, always the same for a picture, is the slow one."""

import argparse

import numpy as np
import torch
from scipy import ndimage
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {"id": "input-bound", "function": "Smooth.__call__", "framework": "torch"}


class Smooth:
    """Takes the speckles out."""

    def __call__(self, picture):
        return ndimage.median_filter(picture, size=5)


class Flip:
    def __init__(self, rng):
        self.rng = rng

    def __call__(self, picture):
        return picture[:, ::-1] if self.rng.random() < 0.5 else picture


class Scans(Dataset):
    def __init__(self, pictures, transforms):
        self.pictures, self.transforms = pictures, transforms

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        picture = self.pictures[index]
        for transform in self.transforms:
            picture = transform(picture)
        bright = picture > 0.5
        return torch.from_numpy(picture.copy())[None], torch.from_numpy(bright.copy()).float()


def scans(rng, count=8 * 60, size=40):
    """Discs with speckles."""
    y, x = np.mgrid[:size, :size]
    middle, radius = rng.uniform(10, 30, (2, count, 1, 1)), rng.uniform(4, 9, (count, 1, 1))
    discs = (x - middle[0]) ** 2 + (y - middle[1]) ** 2 < radius**2
    return (discs + rng.normal(0, 0.4, discs.shape)).astype("f4")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(14)
    rng = np.random.default_rng(14)
    pictures = scans(rng)
    chain = [Smooth(), Flip(rng), lambda picture: np.clip(picture, -0.2, 1.2)]
    if asked.fixed:
        pictures = [chain[0](picture) for picture in pictures]
        del chain[0]
    model = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 3, padding=1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for epoch in range(2):
        for pictures_of_batch, masks in DataLoader(Scans(pictures, chain), batch_size=8):
            guess = model(pictures_of_batch).squeeze(1)
            loss = nn.functional.binary_cross_entropy_with_logits(guess, masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            tick()
        print(f"epoch {epoch + 1}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
