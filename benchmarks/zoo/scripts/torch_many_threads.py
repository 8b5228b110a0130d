"""The number of threads was copied from a larger machine."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "thread-oversubscription", "function": None, "framework": "torch"}

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
if not parser.parse_args().fixed:
    torch.set_num_threads(16)

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    nn.Conv2d(16, 32, 3, padding=1, stride=2),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(4),
    nn.Flatten(),
    nn.Linear(512, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
labels = torch.randint(0, 10, (1024,))
pictures = torch.randn(1024, 3, 32, 32)
pictures[torch.arange(1024), labels % 3, labels * 3] += 2
for step in range(60):
    batch = torch.randint(0, 1024, (24,))
    loss = nn.functional.cross_entropy(model(pictures[batch]), labels[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.3f}")
    tick()
