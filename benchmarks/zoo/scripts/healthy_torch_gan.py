"""A GAN on points of a ring, as tutorials write it: two networks, two optimizers."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}


def network(wide_in, wide_out, width=384):
    return nn.Sequential(
        nn.Linear(wide_in, width),
        nn.LeakyReLU(0.2),
        nn.Linear(width, width),
        nn.LeakyReLU(0.2),
        nn.Linear(width, wide_out),
    )


def ring(count):
    angle = torch.rand(count) * 2 * torch.pi
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.parse_args()
    torch.manual_seed(9)
    maker, critic = network(8, 2), network(2, 1)
    makes = torch.optim.Adam(maker.parameters(), lr=2e-4, betas=(0.5, 0.9), fused=True)
    judges = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.9), fused=True)
    criterion = nn.BCEWithLogitsLoss()
    real, fake = torch.ones(512, 1), torch.zeros(512, 1)
    for number in range(250):
        drawn = maker(torch.randn(512, 8))
        judges.zero_grad()
        judged = criterion(critic(ring(512)), real) + criterion(critic(drawn.detach()), fake)
        judged.backward()
        judges.step()
        makes.zero_grad()
        fooled = criterion(critic(drawn), real)
        fooled.backward()
        makes.step()
        if number % 50 == 49:
            print(f"{number + 1}: critic {judged.item():.3f}, maker {fooled.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
