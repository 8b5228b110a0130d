"""A loader that accelerate has wrapped."""

import torch
from accelerate import Accelerator
from loading import SlowItems
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
torch.set_num_threads(1)
accelerator = Accelerator(cpu=True)
model = nn.Linear(16, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(SlowItems(96, item_s=0.003), batch_size=4, num_workers=1)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for features, labels in loader:
    loss = nn.functional.cross_entropy(model(features), labels)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
print(loss.item().hex())
