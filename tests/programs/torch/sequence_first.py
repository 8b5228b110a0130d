"""An LSTM whose batches are (time, batch, features), from a loader with and without workers."""

import torch
from torch import nn


class Sequences(torch.utils.data.Dataset):
    def __len__(self):
        return 6 * 16 + 8

    def __getitem__(self, index):
        return torch.randn(50, 8), index % 2


def collate(items):
    inputs, labels = zip(*items, strict=True)
    return torch.stack(inputs, dim=1), torch.tensor(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(8, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, inputs):
        return self.head(self.recurrent(inputs)[0][-1])


if __name__ == "__main__":
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for workers in (0, 0, 0, 1, 1, 1):
        for inputs, labels in torch.utils.data.DataLoader(
            Sequences(), batch_size=16, collate_fn=collate, num_workers=workers
        ):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()
