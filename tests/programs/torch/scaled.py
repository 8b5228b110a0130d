"""A GradScaler skips the optimizer where the gradients overflow: that was a step all the same."""

import torch
from parts import classifier, loader, seeded
from torch import nn

seeded()
model = classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
loss_function = nn.CrossEntropyLoss()
for number, (images, labels) in enumerate(loader(24)):
    optimizer.zero_grad()
    loss = loss_function(model(images), labels)
    if number in (3, 11):
        loss = loss * float("inf")
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
print(scaler.get_scale())
