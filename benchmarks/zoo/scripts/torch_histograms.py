"""TensorBoard gets a histogram of every parameter and gradient in every step."""

import argparse

import torch
from timing import tick
from torch import nn
from torch.utils.tensorboard import SummaryWriter

ZOO = {"id": "logging-stall", "function": "log_histograms", "framework": "torch"}


def log_histograms(writer, model, step):
    for name, parameter in model.named_parameters():
        writer.add_histogram(f"weights/{name}", parameter, step)
        writer.add_histogram(f"gradients/{name}", parameter.grad, step)


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(24 * 49, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    every = 50 if parser.parse_args().fixed else 1
    torch.manual_seed(0)
    labels = torch.randint(0, 10, (3000,))
    images = torch.rand(3000, 1, 28, 28) * 0.3
    images[torch.arange(3000), 0, labels * 2 + 4] += 0.7
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    writer = SummaryWriter("logs")
    for step in range(70):
        batch = torch.randint(0, 3000, (128,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss.item(), step)
        if step % every == 0:
            log_histograms(writer, model, step)
        tick()
    writer.close()
    print(f"last loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
