"""A model with parameters in 32 bits that computes with a buffer in 64."""

import sys

import torch

torch.manual_seed(0)


class Smoothed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weights", torch.rand(32, 32, dtype=torch.float64) / 32)
        self.last = torch.nn.Linear(32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last((x.to(self.weights.dtype) @ self.weights).float())


model = Smoothed()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.rand(64, 32)
for _ in range(12):
    loss = (model(inputs) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
print("types", model.weights.dtype, loss.dtype, file=sys.stderr)
