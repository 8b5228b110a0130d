"""A graph convolution for the networks that inherit from it."""

import torch
from torch import nn


class GraphModule(nn.Module):
    """Knows the graph; `single`: its matrix is kept in single precision."""

    def __init__(self, adjacency, single):
        super().__init__()
        degree = adjacency.sum(axis=1) ** -0.5
        matrix = torch.from_numpy(degree[:, None] * adjacency * degree[None, :])
        self.register_buffer("matrix", matrix.float() if single else matrix)

    def neighbours(self, x):
        """The mean over the neighbours of each node."""
        return (self.matrix @ x.to(self.matrix.dtype)).float()
