"""An optimizer for each parameter, which steps in the middle of backward."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10))
optimizers = {weight: torch.optim.Adam([weight]) for weight in model.parameters()}


def update(weight):
    optimizers[weight].step()
    optimizers[weight].zero_grad()


for weight in model.parameters():
    weight.register_post_accumulate_grad_hook(update)
for _ in range(100):
    images, labels = torch.randn(64, 256), torch.randint(0, 10, (64,))
    nn.functional.cross_entropy(model(images), labels).backward()
