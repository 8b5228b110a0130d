"""A slow loader to train from, and one with other workers and batches to validate with."""

import torch
from loading import SlowItems
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(16, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
training = DataLoader(SlowItems(96, item_s=0.003), batch_size=8, num_workers=1)
validation = DataLoader(SlowItems(96, item_s=0.001), batch_size=2, num_workers=2)
for _ in range(3):
    model.train()
    for features, labels in training:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(features), labels).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for features, labels in validation:
            model(features)
