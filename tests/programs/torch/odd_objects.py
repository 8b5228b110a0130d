"""What hooks may trip over: batches whose length cannot be told, an optimizer without a hash."""

import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore", message=".*nested tensors.*")
torch.manual_seed(0)


class Unwilling:
    @property
    def shape(self):
        raise RuntimeError("ask something else")


class Negative:
    shape = (-1, 3)


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, odd, rows):
        return torch.nested.to_padded_tensor(self.layer(rows), 0.0).square().mean()


class Equal(torch.optim.SGD):
    def __eq__(self, other):
        return isinstance(other, Equal)


model = Padded()
optimizer = Equal(model.parameters(), lr=0.1)
for step in range(8):
    rows = torch.nested.nested_tensor([torch.randn(2, 4), torch.randn(3 + step % 2, 4)])
    losses = [model(odd, rows) for odd in (rows, Unwilling(), Negative(), [], {})]
    losses.append(model(rows=rows, odd=None))
    optimizer.zero_grad()
    sum(losses).backward()
    optimizer.step()
    print(float(sum(losses)))
