"""A context manager around each step takes a checksum of all weights."""

import argparse
import contextlib
import zlib

import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "host-code",
    "function": ["guarded", "checksum"],
    "framework": "torch",
}


def checksum(model):
    """Changes with any bit of the weights."""
    value = 0
    for weight in model.parameters():
        value = zlib.crc32(weight.detach().numpy().tobytes(), value)
    return value


@contextlib.contextmanager
def guarded(model, seen):
    """Makes sure that no step leads back to weights that were there before."""
    yield
    if seen is not None:
        found = checksum(model)
        if found in seen:
            raise RuntimeError("The training goes in circles.")
        seen.add(found)


class Vae(nn.Module):
    def __init__(self, width=512, latent=12):
        super().__init__()
        self.inward = nn.Sequential(nn.Linear(320, width), nn.ReLU(), nn.Linear(width, 2 * latent))
        self.outward = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, 320))

    def forward(self, x):
        middle, spread = self.inward(x).chunk(2, dim=1)
        drawn = middle + torch.randn_like(middle) * (spread / 2).exp()
        divergence = (middle**2 + spread.exp() - spread - 1).sum(dim=1) / 2
        rebuilt = ((self.outward(drawn) - x) ** 2).sum(dim=1)
        return (rebuilt + divergence).mean()


class Loop:
    def __init__(self, data, watched):
        self.data = data
        self.seen = set() if watched else None
        self.model = Vae()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)

    def __iter__(self):
        """The loss of each step."""
        for batch in self.data.split(384):
            with guarded(self.model, self.seen):
                loss = self.model(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            yield loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(19)
    data = torch.randn(384 * 200, 8) @ torch.randn(8, 320)
    for number, loss in enumerate(Loop(data, watched=not asked.fixed), start=1):
        if number % 40 == 0:
            print(f"{number}: {loss:.2f}")
        tick()


if __name__ == "__main__":
    main()
