"""The validation loss over 2,000 pictures is wanted after every fifth batch."""

import argparse

import torch
import torch.nn.functional as F
from timing import tick
from torch import nn

ZOO = {"id": "evaluation-stall", "function": "validate", "framework": "torch"}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3)
        self.conv2 = nn.Conv2d(16, 32, 3)
        self.fc = nn.Linear(32 * 25, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def make_digits(count):
    labels = torch.randint(0, 10, (count,))
    images = torch.rand(count, 1, 28, 28)
    images[torch.arange(count), 0, labels * 2 + 4] += 0.6
    return images, labels


@torch.no_grad()
def validate(model, images, labels):
    model.eval()
    losses = [
        F.cross_entropy(model(images[i : i + 250]), labels[i : i + 250]).item()
        for i in range(0, len(labels), 250)
    ]
    model.train()
    return sum(losses) / len(losses)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--validate-every", type=int, default=5)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    images, labels = make_digits(4000)
    validation = make_digits(2000)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(1, 101):
        batch = torch.randint(0, len(labels), (96,))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        if not arguments.fixed and step % arguments.validate_every == 0:
            print(f"step {step} loss {loss.item():.3f} val {validate(model, *validation):.3f}")
        tick()
    print(f"validation loss {validate(model, *validation):.3f}")


if __name__ == "__main__":
    main()
