"""Epochs of a loader, with a validation plot at the end of each; the only slow steps."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


def slow_collate(samples):
    total = 0
    for number in range(150_000):
        total += number
    return torch.stack([sample[0] for sample in samples])


def on_epoch_end(losses):
    """Work of the script's own, as long as many steps."""
    total = 0.0
    for number in range(6_000_000):
        total += number * losses[-1]
    return total


def main():
    net = nn.Linear(128, 128)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    data = DataLoader(TensorDataset(torch.randn(640, 128)), batch_size=16, collate_fn=slow_collate)
    losses = []
    for epoch in range(2):
        for x in data:
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch == 0:
            on_epoch_end(losses)


main()
