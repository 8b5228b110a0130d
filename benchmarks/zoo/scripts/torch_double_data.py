"""NumPy's double precision came in with the data, and the model was made to match."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ZOO = {"id": "float64-compute", "function": "Regressor.forward", "framework": "torch"}


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(256, 768)
        self.fc2 = nn.Linear(768, 768)
        self.fc3 = nn.Linear(768, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    x = rng.normal(size=(10_240, 256))
    y = np.sin(x[:, :2].sum(axis=1, keepdims=True))
    inputs, targets = torch.from_numpy(x), torch.from_numpy(y)
    model = Regressor().double()
    if arguments.fixed:
        inputs, targets, model = inputs.float(), targets.float(), model.float()
    loader = DataLoader(TensorDataset(inputs, targets), batch_size=512, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(4):
        for features, values in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(features), values)
            loss.backward()
            optimizer.step()
            tick()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
