"""Large matrices in large batches: the time is in the multiplications, where it belongs."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="nothing to fix")
    parser.parse_args()
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    labels = torch.randint(0, 10, (16_384,))
    inputs = torch.randn(10, 512)[labels] + 3 * torch.randn(16_384, 512)
    for step in range(60):
        batch = torch.randint(0, len(labels), (512,))
        loss = nn.functional.cross_entropy(model(inputs[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
