"""Trains in the way it is told until it is killed, and says each time that a step is done."""

import os
import sys

import stepscope


def said():
    os.write(1, b".")


def numpy_marked():
    import numpy as np

    weights = np.ones((64, 64))
    while True:
        for _ in range(1 + int(weights[0, 0]) % 3):
            weights = np.tanh(weights @ weights / 64) + 0.5
        stepscope.step()
        said()


def numpy_looped():
    import numpy as np

    weights = np.ones((192, 192))
    for turn in range(1_000_000):
        if turn:  # the step before this turn is done
            said()
        for _ in range(8):
            weights = np.tanh(weights @ weights / 192) + 0.5


def torch_training(workers=0):
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.utils.data.TensorDataset(torch.randn(400, 16), torch.randn(400, 1))
    loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=workers)
    while True:
        for inputs, wanted in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), wanted).backward()
            optimizer.step()
            said()


WAYS = {
    "marked": numpy_marked,
    "looped": numpy_looped,
    "torch": torch_training,
    "workers": lambda: torch_training(2),
}
WAYS[sys.argv[1]]()
