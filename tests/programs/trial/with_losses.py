"""A small training with a nap in each step; seeded only if asked to be."""

import sys
import time

import torch

torch.set_num_threads(1)
if "--seeded" in sys.argv:
    torch.manual_seed(0)
model = torch.nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for _step in range(500):
    x = torch.randn(32, 10)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.01)
