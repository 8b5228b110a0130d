"""A model that reads its table again in each forward pass: in a function, or in forward itself."""

import os
import sys
import tempfile

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
FOLDER = tempfile.mkdtemp()
TABLE = os.path.join(FOLDER, "table.npz")
np.savez_compressed(TABLE, table=np.random.default_rng(0).standard_normal((600, 256), np.float32))


def table():
    with open(TABLE, "rb") as file:
        return torch.from_numpy(np.load(file)["table"])


class InFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(256, 256)

    def forward(self, x):
        return self.layer(x) @ table().T


class Inline(InFunction):
    def forward(self, x):
        read = np.load(TABLE)["table"]
        return self.layer(x) @ torch.from_numpy(read).T


def main(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    for _ in range(40):
        x = torch.randn(64, 256)
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()


main(globals()[sys.argv[1]]())
