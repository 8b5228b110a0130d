"""Compiled without a compiler of C: the graphs and how often they are made is what counts."""

import torch
from parts import classifier, loader, seeded
from torch import nn

seeded()
model = classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_function = nn.CrossEntropyLoss()


@torch.compile(backend="aot_eager")
def loss_of(images, labels):
    return loss_function(model(images), labels)


for step, (images, labels) in enumerate(loader(40)):
    if step == 30:
        images, labels = images[:32], labels[:32]  # compiled once more
    optimizer.zero_grad()
    loss = loss_of(images, labels)
    loss.backward()
    optimizer.step()
stats = torch._dynamo.utils.counters
print(loss.item().hex(), dict(stats["stats"]), dict(stats["graph_break"]))
