"""Items that compute, in as many workers as there are cores. Argument: workers."""

import sys

import torch
from loading import train
from torch.utils.data import DataLoader, Dataset


def weigh(index):
    total = 0
    for number in range(60_000):
        total += number % (index + 1)
    return total


class Heavy(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        weight = weigh(index)
        return torch.full((16,), float(weight % 7)), index % 3


train(DataLoader(Heavy(), batch_size=4, num_workers=int(sys.argv[1])), epochs=1)
