"""Graphs that break, in a module and around the whole step: from there on Dynamo looks at every
function that is called, a recorder's too.

How many frames it looks at is not printed: around an optimizer's step it reads on if the optimizer
has a hook, anybody's, where it stops if there is none.
"""

import logging
import os

import torch
from parts import classifier, seeded
from torch import nn

seeded()
if "TORCH_LOGS" not in os.environ:
    logging.disable()  # Dynamo warns with the time and the process's number


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = classifier()

    def forward(self, images):
        torch._dynamo.graph_break()
        return self.inner(images)


def tell(loss):
    counted = torch._dynamo.utils.counters
    breaks = sum(counted["graph_break"].values())
    print(loss.item().hex(), dict(counted["stats"]), breaks)
    counted.clear()


model = nn.Sequential(Broken())
optimizer = torch.optim.Adam(model.parameters())
images, labels = torch.randn(16, 256), torch.randint(0, 10, (16,))
compiled = torch.compile(model, backend="eager")
for _ in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(compiled(images), labels)
    loss.backward()
    optimizer.step()
tell(loss)
torch._dynamo.reset()


@torch.compile(backend="eager")
def step():
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss


for _ in range(12):
    loss = step()
tell(loss)
