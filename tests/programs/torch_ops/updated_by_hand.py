"""Modules, but no optimizer: nothing tells where a step ends."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10))
for _ in range(400):
    images, labels = torch.randn(64, 256), torch.randint(0, 10, (64,))
    loss = nn.functional.cross_entropy(model(images), labels)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.01 * weight.grad
