"""A model that the script compiles for each length anew. Prints how many graphs were made."""

import sys

import torch
from torch import nn

graphs = 0


def count(graph, _inputs):
    global graphs
    graphs += 1
    return graph.forward


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.layer(x))


net = Net()
if "method" in sys.argv:
    net.compile(backend=count, dynamic=False)
else:
    net = torch.compile(net, backend=count, dynamic="already" in sys.argv)
for length in range(3, 9):
    net(torch.randn(length, 4)).sum().backward()
print(graphs)
