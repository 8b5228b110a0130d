"""Loaders that fail, each in its own way, in the middle of the training."""

import os
import signal
import sys
import time

import torch
from loading import SlowItems, Stream, train
from torch.utils.data import DataLoader


class Broken(SlowItems):
    def __getitem__(self, index):
        if index == 40:
            raise ValueError("the item is broken")
        return super().__getitem__(index)


class Killed(SlowItems):
    def __getitem__(self, index):
        if index == 40:
            time.sleep(1)  # until its earlier batches are received: those die with it otherwise
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class Endless(SlowItems):
    def __getitem__(self, index):
        if index == 40:
            time.sleep(100)
        return super().__getitem__(index)


class WrongLength(Stream):
    def __len__(self):
        return 8


def collate(items):
    if items[0][0][0] == 5:
        raise KeyError("the batch is broken")
    return torch.utils.data.default_collate(items)


KINDS = {
    "item": lambda: DataLoader(Broken(), batch_size=4, num_workers=2),
    "item in training": lambda: DataLoader(Broken(), batch_size=4),
    "collate": lambda: DataLoader(SlowItems(), batch_size=4, num_workers=1, collate_fn=collate),
    "collate in training": lambda: DataLoader(SlowItems(), batch_size=4, collate_fn=collate),
    "killed": lambda: DataLoader(Killed(), batch_size=4, num_workers=2),
    "timeout": lambda: DataLoader(Endless(), batch_size=4, num_workers=1, timeout=2),
    "start": lambda: DataLoader(SlowItems(), batch_size=4, num_workers=1, worker_init_fn=lambda worker: 1 / 0),
    "length": lambda: Counted(WrongLength(), batch_size=4),
}


class Counted(DataLoader):
    """Warns that there are more batches than it said."""

    def __iter__(self):
        len(self)
        return super().__iter__()


if __name__ == "__main__":
    train(KINDS[sys.argv[1]](), epochs=1)
