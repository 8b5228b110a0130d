"""Loaders that fork their workers, epoch after epoch, beside threads that are never idle."""

import sys
import threading

import torch
from torch.utils.data import DataLoader, Dataset

import stepscope


class Numbers(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.tensor(sum(range(index)))


def busy():
    while not over.is_set():
        sum(i * i for i in range(500))


def evaluate(epochs):
    for _ in range(epochs):
        batches.append(sum(1 for _ in DataLoader(Numbers(), batch_size=4, num_workers=2)))


over, batches, epochs = threading.Event(), [], int(sys.argv[1])
threads = [threading.Thread(target=busy) for _ in range(2)]
threads.append(threading.Thread(target=evaluate, args=(epochs,)))
for thread in threads:
    thread.start()
for _ in range(epochs):
    for _batch in DataLoader(Numbers(), batch_size=4, num_workers=2):
        stepscope.step()
threads[-1].join()
over.set()
print(batches == [4] * epochs)
