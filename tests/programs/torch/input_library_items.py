"""Items whose time goes to a library: json's own Python code."""

import json

import torch
from loading import train
from torch.utils.data import DataLoader, Dataset

NUMBERS = list(range(50_000))


class Parsed(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        text = json.dumps(NUMBERS, indent=1)
        return torch.full((16,), float(len(text) % 7)), index % 3


train(DataLoader(Parsed(), batch_size=4, num_workers=1), epochs=1)
