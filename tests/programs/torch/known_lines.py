"""Every operator's line is known by its name and the sizes of its inputs."""

import sys

import torch
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 12


class Cubed(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.pow(3)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        squared = x.square()
        return torch.mm(squared, gradient)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.nn.ParameterList(
            [torch.randn(size, size) / size for size in (300, 320, 340, 360, 380)]
        )

    def forward(self, inputs):
        a = torch.mm(inputs[0], self.weights[0])
        b = torch.bmm(inputs[1][None], self.weights[1][None])
        c = self.inner(inputs[2], self.weights[2])
        d = checkpoint(self.again, inputs[3], self.weights[3], use_reentrant=False)
        e = Cubed.apply(self.weights[4])
        a = a.sigmoid()
        total = a.sum()
        for part in (b, c, d, e):
            total = total + part.sum()
        return total

    def inner(self, x, weight):
        product = torch.addmm(x, x, weight)
        return product.tanh()

    def again(self, x, weight):
        return torch.mm(x, weight).exp()


def train():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    inputs = [torch.randn(size, size) for size in (300, 320, 340, 360)]
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(inputs)
        loss.backward()
        optimizer.step()
    print(loss.item().hex())


train()
