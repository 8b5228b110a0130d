import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        return self.layer(x)


def main():
    model = Model()
    model(torch.randn(2, 8))
    model(torch.randn(2, 9))


main()
