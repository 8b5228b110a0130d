"""Train a classifier of digits on several ranks, in PyTorch.

One rank is late. Find out which, and why:
torchrun --nproc-per-node 2 -m stepscope run -o runs/ranks examples/cluster_torch/train.py
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import distributed, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

DATA = Path(__file__).parent.parent / "data" / "digits.npz"


def denoised(picture, threshold=40):
    """A pixel among dark ones becomes black."""
    padded = np.pad(picture, 1)
    for y, x in np.argwhere(picture):
        if padded[y : y + 3, x : x + 3].max() < 2 * threshold:
            picture[y, x] = 0
    return picture


class Digits(Dataset):
    """The pictures of one rank. Those from 5 on come from a scanner with a noisy sensor."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        picture, label = self.images[index], int(self.labels[index])
        if label >= 5:
            picture = denoised(picture.copy())
        return torch.from_numpy(picture).float() / 255, label


def load_shard(arguments, rank, ranks):
    """Every rank takes an equally long piece of the data set, which is sorted by its labels."""
    with np.load(arguments.data) as data:
        images, labels = data["images"][: arguments.count], data["labels"][: arguments.count]
    order = np.argsort(labels, kind="stable")
    mine = np.array_split(order, ranks)[rank]
    return Digits(images[mine], labels[mine])


def train(arguments):
    distributed.init_process_group("gloo")
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    shard = load_shard(arguments, rank, ranks)
    loader = DataLoader(shard, arguments.batch, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 256), nn.ReLU(), nn.Linear(256, 10))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(arguments.epochs):
        began = time.perf_counter()
        for pictures, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step()
        step_time = (time.perf_counter() - began) / len(loader)
        if rank == 0:
            print(
                f"epoch {epoch:2d}  loss {loss.item():.3f}  step_time {1e3 * step_time:.1f} ms"
                f"  throughput {ranks * arguments.batch / step_time:,.0f} img/s",
                flush=True,
            )
    distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--count", type=int, default=8_000, help="how many of the pictures to use")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
