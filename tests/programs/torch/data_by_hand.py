"""A model whose weights are moved in place, through `.data`, 1,500 times."""

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
inputs, targets = torch.randn(64, 32), torch.randn(64, 1)
for _ in range(1_500):
    loss = (model(inputs) - targets).pow(2).sum()
    model.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        parameter.data.add_(parameter.grad.data, alpha=-1e-4)
print(loss.item().hex())
