"""A small convolutional network, with evaluation, a checkpoint and a log line once an epoch."""

import argparse
import logging

import torch
import torch.nn.functional as F
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {"id": None, "function": None, "framework": "torch"}

log = logging.getLogger(__name__)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 24, 3, padding=1)
        self.conv2 = nn.Conv2d(24, 48, 3, padding=1)
        self.fc1 = nn.Linear(48 * 49, 96)
        self.fc2 = nn.Linear(96, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def make_digits(count):
    labels = torch.randint(0, 10, (count,))
    images = torch.rand(count, 1, 28, 28)
    images[torch.arange(count), 0, labels * 2 + 4] += 0.6
    return TensorDataset(images, labels)


def train_epoch(model, loader, optimizer):
    model.train()
    for images, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        tick()
    return loss.item()


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(dim=1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(0)
    training = DataLoader(make_digits(3200), batch_size=64, shuffle=True)
    validation = DataLoader(make_digits(256), batch_size=256)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    for epoch in range(3):
        loss = train_epoch(model, training, optimizer)
        log.info("epoch %d loss %.3f accuracy %.3f", epoch, loss, accuracy(model, validation))
        torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
