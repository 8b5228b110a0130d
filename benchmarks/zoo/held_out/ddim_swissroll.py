"""Homework 3: diffusion models. Part 2, train epsilon-prediction on the swiss roll."""

import argparse
import itertools
import math
import time

import torch
import torch.nn as nn
from sklearn.datasets import make_swiss_roll
from timing import tick

ZOO = {
    "id": "python-hot-loop",
    "also": ["eager-overhead"],
    "function": ["NoiseSchedule.add_noise", "NoiseSchedule.alpha_bar"],
    "framework": "torch",
}


class NoiseSchedule:
    def __init__(self, T=400, beta_min=1e-4, beta_max=0.02):
        self.T = T
        self.betas = torch.linspace(beta_min, beta_max, T)
        self.alphas = 1.0 - self.betas
        self.alpha_bars = torch.cumprod(self.alphas, dim=0)

    def alpha_bar(self, t):
        # Eq. (4): the product of all alphas up to t
        return torch.prod(self.alphas[: t + 1])

    def add_noise(self, x0, t):
        """q(x_t | x_0), Eq. (6)"""
        noise = torch.randn_like(x0)
        noisy = []
        for i in range(len(x0)):
            a = self.alpha_bar(t[i])
            noisy.append(torch.sqrt(a) * x0[i] + torch.sqrt(1 - a) * noise[i])
        return torch.stack(noisy), noise

    def add_noise_batched(self, x0, t):
        noise = torch.randn_like(x0)
        a = self.alpha_bars[t].unsqueeze(1)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise, noise


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        freqs = torch.exp(-math.log(10000) * torch.arange(dim // 2) / (dim // 2))
        self.register_buffer("freqs", freqs)

    def forward(self, t):
        angles = t.float().unsqueeze(1) * self.freqs
        return torch.cat([angles.sin(), angles.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, dim=2, hidden=256, t_dim=64):
        super().__init__()
        self.embed = TimeEmbedding(t_dim)
        self.inp = nn.Linear(dim + t_dim, hidden)
        self.blocks = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(4)])
        self.out = nn.Linear(hidden, dim)

    def forward(self, x, t):
        h = self.inp(torch.cat([x, self.embed(t)], dim=1))
        for block in self.blocks:
            h = h + block(nn.functional.silu(h))
        return self.out(h)


@torch.no_grad()
def ddim_sample(model, schedule, n=500, n_steps=20):
    x = torch.randn(n, 2)
    times = torch.linspace(schedule.T - 1, 0, n_steps).long()
    for t, t_prev in itertools.pairwise(times):
        eps = model(x, t.repeat(n))
        a, a_prev = schedule.alpha_bars[t], schedule.alpha_bars[t_prev]
        x0 = (x - (1 - a).sqrt() * eps) / a.sqrt()
        x = a_prev.sqrt() * x0 + (1 - a_prev).sqrt() * eps
    return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--iters", type=int, default=500)
    parser.add_argument("--fixed", action="store_true", help="all samples at once")
    args = parser.parse_args()
    torch.manual_seed(231)
    points = make_swiss_roll(8192, noise=0.3, random_state=0)[0][:, [0, 2]] / 8
    data = torch.tensor(points, dtype=torch.float32)
    schedule, model = NoiseSchedule(), Denoiser()
    diffuse = schedule.add_noise_batched if args.fixed else schedule.add_noise
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    tic = time.time()
    for it in range(args.iters):
        x0 = data[torch.randint(len(data), (args.batch,))]
        t = torch.randint(schedule.T, (args.batch,))
        xt, noise = diffuse(x0, t)
        loss = ((model(xt, t) - noise) ** 2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        tick()
        if (it + 1) % 100 == 0:
            print(f"iter {it + 1} loss {loss.item():.4f} {(time.time() - tic) * 10:.2f} ms/iter")
            tic = time.time()
    print("spread of the samples:", ddim_sample(model, schedule).std(dim=0).tolist())


if __name__ == "__main__":
    main()
