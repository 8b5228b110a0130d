"""A recurrent model in doubles: they come from NumPy, from the default type, and the loss wants
targets of the same type. Prints its losses, all digits."""

import sys

import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)


class Cell(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.inner = nn.Linear(2 * width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        state = torch.zeros(len(x), x.shape[2])
        for t in range(x.shape[1]):
            state = torch.tanh(self.inner(torch.cat([x[:, t], state], dim=1)))
        return {"chance": torch.sigmoid(self.out(state)), "state": (state,)}


if "eager-backend" in sys.argv:
    compile_with = torch.compile
    torch.compile = lambda model, dynamic=None, options=None: compile_with(
        model, dynamic=dynamic, backend="eager"
    )
torch.manual_seed(0)
rng = np.random.default_rng(0)
model = Cell()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(12):
    x = torch.from_numpy(rng.normal(size=(8, 5, 12)))
    y = (x.mean(dim=(1, 2), keepdim=True)[:, 0] > 0).double()
    loss = nn.functional.binary_cross_entropy(model(x)["chance"], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
print("types", loss.dtype, model.out.weight.dtype, torch.rand(1).dtype, file=sys.stderr)
