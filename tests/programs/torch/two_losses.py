"""Two optimizers over two parts of one model, in a loop over both: one step a batch."""

import torch
from parts import loader, seeded
from torch import nn

seeded()
body, head = nn.Sequential(nn.Linear(256, 1024), nn.ReLU()), nn.Linear(1024, 10)
optimizers = [torch.optim.Adam(body.parameters()), torch.optim.SGD(head.parameters(), lr=0.1)]
for images, labels in loader(28):
    loss = nn.functional.cross_entropy(head(body(images)), labels)
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
print(loss.item().hex())
