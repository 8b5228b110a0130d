"""Physics-informed network for the viscous Burgers equation u_t + u u_x = nu u_xx."""

import argparse
import math
from dataclasses import dataclass

import torch
from step_clock import StepClock
from torch import nn

ZOO = {"id": "thread-oversubscription", "function": "setup_runtime", "framework": "torch"}


@dataclass
class Config:
    width: int = 64
    depth: int = 4
    interior: int = 1500
    boundary: int = 200
    steps: int = 160
    lr: float = 2e-3
    viscosity: float = 0.01 / math.pi
    num_threads: int = 16  # what the cluster nodes have
    seed: int = 3


def setup_runtime(cfg):
    torch.manual_seed(cfg.seed)
    torch.set_num_threads(cfg.num_threads)


class Field(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        layers = [nn.Linear(2, cfg.width), nn.Tanh()]
        for _ in range(cfg.depth - 1):
            layers += [nn.Linear(cfg.width, cfg.width), nn.Tanh()]
        layers.append(nn.Linear(cfg.width, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x, t):
        return self.net(torch.stack([x, t], dim=1)).squeeze(1)


def gradient(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


def residual(field, x, t, viscosity):
    x.requires_grad_(True)
    t.requires_grad_(True)
    u = field(x, t)
    u_x = gradient(u, x)
    return gradient(u, t) + u * u_x - viscosity * gradient(u_x, x)


def boundary_loss(field, n):
    x0 = torch.rand(n) * 2 - 1
    start = field(x0, torch.zeros(n)) + torch.sin(math.pi * x0)
    side = torch.where(torch.rand(n) < 0.5, -1.0, 1.0)
    wall = field(side, torch.rand(n))
    return start.square().mean() + wall.square().mean()


def main(cfg):
    setup_runtime(cfg)
    field = Field(cfg)
    optimizer = torch.optim.Adam(field.parameters(), lr=cfg.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.steps)

    clock = StepClock()
    for step in range(1, cfg.steps + 1):
        x = torch.rand(cfg.interior) * 2 - 1
        t = torch.rand(cfg.interior)
        physics = residual(field, x, t, cfg.viscosity).square().mean()
        data = boundary_loss(field, cfg.boundary)
        loss = physics + 5 * data
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 40 == 0:
            print(f"step {step:4d}  physics {physics.item():.4f}  boundary {data.item():.4f}")
        clock.tick()
    clock.dump()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=Config.steps)
    args = parser.parse_args()
    config = Config(steps=args.steps)
    if args.fixed:
        config.num_threads = 1
    main(config)
