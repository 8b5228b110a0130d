"""WGAN-GP on concentric rings. The history goes to a JSON file, for the plots in the report."""

import argparse
import json
import math
import os
import tempfile
import time

import torch
from timing import tick
from torch import autograd, nn, optim

ZOO = {
    "id": "logging-stall",
    "also": ["host-code"],
    "function": ["History.dump", "History.add"],
    "framework": "torch",
}

Z_DIM, WIDTH, BATCH, LAMBDA = 8, 128, 256, 0.1


def rings(n):
    radius = torch.randint(1, 4, (n,)) + 0.05 * torch.randn(n)
    angle = 2 * math.pi * torch.rand(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


def net(n_in, n_out):
    layers = [nn.Linear(n_in, WIDTH), nn.LeakyReLU(0.2)]
    for _ in range(2):
        layers += [nn.Linear(WIDTH, WIDTH), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Linear(WIDTH, n_out))


def gradient_penalty(D, real, fake):
    eps = torch.rand(len(real), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    (grad,) = autograd.grad(D(mixed).sum(), mixed, create_graph=True)
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


class History:
    def __init__(self, path, every):
        self.path, self.every = path, every
        self.curves = {}
        self.count = 0

    def add(self, **values):
        for name, value in values.items():
            self.curves.setdefault(name, []).append(value)
        self.count += 1
        if self.count % self.every == 0:
            self.dump()

    def dump(self):
        with open(self.path, "w") as f:
            json.dump(self.curves, f, indent=2)


def train(history, n_iter):
    G, D = net(Z_DIM, 2), net(2, 1)
    opt_G = optim.Adam(G.parameters(), lr=1e-4, betas=(0.5, 0.9))
    opt_D = optim.Adam(D.parameters(), lr=1e-4, betas=(0.5, 0.9))
    start = time.time()
    for it in range(1, n_iter + 1):
        real = rings(BATCH)
        with torch.no_grad():
            fake = G(torch.randn(BATCH, Z_DIM))
        d_real, d_fake = D(real).mean(), D(fake).mean()
        gp = gradient_penalty(D, real, fake)
        loss_D = d_fake - d_real + LAMBDA * gp
        opt_D.zero_grad()
        loss_D.backward()
        opt_D.step()

        loss_G = None
        if it % 2 == 0:
            samples = G(torch.randn(BATCH, Z_DIM))
            loss_G = -D(samples).mean()
            opt_G.zero_grad()
            loss_G.backward()
            opt_G.step()

        radius = fake.norm(dim=1)
        history.add(
            iteration=it,
            loss_D=loss_D.item(),
            loss_G=loss_G.item() if loss_G is not None else None,
            wasserstein=(d_real - d_fake).item(),
            gp=gp.item(),
            radius=radius.mean().item(),
            spread=radius.std().item(),
            seconds=time.time() - start,
        )
        tick()
        if it % 200 == 0:
            ms = 1000 * (time.time() - start) / it
            print(f"{it}/{n_iter} W: {d_real - d_fake:.3f} GP: {gp:.3f} ({ms:.1f} ms/it)")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--fixed", action="store_true", help="write the history every 400 iterations")
    opt = ap.parse_args()
    torch.manual_seed(3)
    with tempfile.TemporaryDirectory() as out:
        history = History(os.path.join(out, "history.json"), 400 if opt.fixed else 1)
        train(history, n_iter=800)
