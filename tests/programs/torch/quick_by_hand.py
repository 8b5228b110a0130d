"""A linear regression from scratch: 2,000 quick steps, with an update written by hand."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
inputs = torch.randn(1_000, 2)
targets = inputs @ torch.tensor([2.0, -3.4]) + 4.2
weights = torch.zeros(2, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)


def batches(size):
    order = torch.randperm(len(inputs))
    for begin in range(0, len(inputs), size):
        chosen = order[begin : begin + size]
        yield inputs[chosen], targets[chosen]


def update(parameters, rate):
    with torch.no_grad():
        for parameter in parameters:
            parameter -= rate * parameter.grad
            parameter.grad.zero_()


for _epoch in range(20):
    for batch, target in batches(10):
        loss = ((batch @ weights + bias - target) ** 2).mean()
        loss.backward()
        update([weights, bias], 0.03)
print(loss.item().hex())
