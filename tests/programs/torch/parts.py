"""Small pieces that the training programs share."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 64


def seeded():
    torch.manual_seed(0)
    torch.set_num_threads(1)


def classifier():
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def loader(batches, shuffle=True):
    images = torch.randn(batches * BATCH, 256)
    labels = torch.randint(0, 10, (batches * BATCH,))
    return DataLoader(TensorDataset(images, labels), batch_size=BATCH, shuffle=shuffle)
