"""Toy DDPM on the two-moons density: v-prediction, min-SNR loss, EMA and accumulation."""

import argparse
import copy
import itertools

import torch
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch import nn

from step_clock import StepClock

ZOO = {"id": None, "function": None, "framework": "torch"}


class TimeMLP(nn.Module):
    def __init__(self, width=256, depth=4):
        super().__init__()
        self.register_buffer("freqs", torch.exp(torch.linspace(0, 6, 32)))
        self.embed = nn.Linear(64, width)
        self.inp = nn.Linear(2, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        angle = t[:, None] * self.freqs
        emb = self.embed(torch.cat([angle.sin(), angle.cos()], dim=1))
        h = self.inp(x)
        for layer in self.hidden:
            h = h + F.silu(layer(h + emb))
        return self.out(h)


class Ema:
    """Exponential average of the weights, with a decay that ramps up."""

    def __init__(self, model, decay=0.999):
        self.shadow = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay
        self.count = 0
        self.pairs = list(self.shadow.parameters()), list(model.parameters())

    @torch.no_grad()
    def update(self):
        self.count += 1
        decay = min(self.decay, (1 + self.count) / (10 + self.count))
        torch._foreach_lerp_(self.pairs[0], self.pairs[1], 1 - decay)


class Diffusion:
    def __init__(self, model, gamma=5.0):
        self.model = model
        self.gamma = gamma

    def loss(self, x):
        t = torch.rand(len(x))
        alpha, sigma = torch.cos(t * torch.pi / 2), torch.sin(t * torch.pi / 2)
        noise = torch.randn_like(x)
        noisy = alpha[:, None] * x + sigma[:, None] * noise
        velocity = alpha[:, None] * noise - sigma[:, None] * x
        snr = (alpha / sigma.clamp_min(1e-3)) ** 2
        weight = snr.clamp_max(self.gamma) / (snr + 1)
        error = (self.model(noisy, t) - velocity).square().mean(1)
        return (weight * error).mean()

    @torch.no_grad()
    def sample(self, net, n, steps=20):
        x = torch.randn(n, 2)
        grid = torch.linspace(1, 0, steps + 1) * torch.pi / 2
        for now, after in itertools.pairwise(grid):
            v = net(x, (now / (torch.pi / 2)).expand(n))
            clean = now.cos() * x - now.sin() * v
            noise = now.sin() * x + now.cos() * v
            x = after.cos() * clean + after.sin() * noise
        return x


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="no effect")
    parser.add_argument("--steps", type=int, default=220)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--batch", type=int, default=512)
    args = parser.parse_args()

    torch.manual_seed(2)
    torch.set_num_threads(1)
    points, _ = make_moons(20000, noise=0.06, random_state=2)
    data = torch.tensor(points, dtype=torch.float32)
    data = (data - data.mean(0)) / data.std(0)

    net = TimeMLP()
    diffusion, ema = Diffusion(net), Ema(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=True)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=30)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps - 30)
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], [30])

    clock = StepClock()
    for step in range(1, args.steps + 1):
        optimizer.zero_grad()
        total = torch.zeros(())
        for _ in range(args.accumulate):
            x = data[torch.randint(0, len(data), (args.batch,))]
            loss = diffusion.loss(x) / args.accumulate
            loss.backward()
            total += loss.detach()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        ema.update()
        if step % 60 == 0:
            print(f"step {step:4d} loss {total.item():.4f} grad norm {norm.item():.3f}")
        clock.tick()
    clock.dump()
    drawn = diffusion.sample(ema.shadow, 1000)
    near = torch.cdist(drawn, data[:4000]).min(1).values.mean()
    print(f"mean distance of samples to the data: {near.item():.4f}")


if __name__ == "__main__":
    main()
