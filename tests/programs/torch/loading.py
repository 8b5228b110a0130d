"""Datasets and a training loop that the programs about input share."""

import time

import torch
from torch import nn
from torch.utils.data import Dataset, IterableDataset, get_worker_info


class SlowItems(Dataset):
    def __init__(self, length=64, item_s=0.003):
        self.length, self.item_s = length, item_s

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(self.item_s)
        return torch.full((16,), float(index % 7)), index % 3


class Stream(IterableDataset):
    """Each worker has its share."""

    def __init__(self, length=48):
        self.length = length

    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, self.length, step):
            yield torch.full((16,), float(index % 7)), index % 3


def train(loader, epochs=2, compute_s=0.0):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Linear(16, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for features, labels in loader:
            loss = nn.functional.cross_entropy(model(features), labels)
            time.sleep(compute_s)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(loss.item().hex())
