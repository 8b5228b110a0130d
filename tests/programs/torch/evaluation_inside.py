"""Every tenth batch a validation loss: evaluation between two steps, and a checkpoint."""

import os
import tempfile

import torch
from parts import classifier, loader, seeded
from torch import nn


def main():
    seeded()
    model = classifier()
    optimizer = torch.optim.Adam(model.parameters())
    loss_function = nn.CrossEntropyLoss()
    validation = loader(10, shuffle=False)
    for number, (images, labels) in enumerate(loader(40)):
        loss = loss_function(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            model.eval()
            with torch.inference_mode():
                total = sum(loss_function(model(x), y).item() for x, y in validation)
            model.train()
            with tempfile.TemporaryDirectory() as folder:
                torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
            print(number, total.hex())


main()
