"""Deep residual MLP for tabular regression (California-housing-like data), trained with Lion.

The network is narrow and deep, after "Revisiting Deep Learning Models for Tabular Data".
"""

import argparse
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import make_friedman1
from torch import nn

from step_clock import StepClock

ZOO = {"id": "optimizer-unfused", "function": "Lion.step", "framework": "torch"}


class Lion(torch.optim.Optimizer):
    """EvoLved Sign Momentum (Chen et al., 2023) with decoupled decay and a trust clip."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0, foreach=False):
        defaults = {"lr": lr, "betas": betas, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        self.foreach = foreach

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            if self.foreach:
                self._step_foreach(group)
                continue
            lr, wd = group["lr"], group["weight_decay"]
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                exp_avg = state["exp_avg"]
                grad = p.grad
                p.data.mul_(1 - lr * wd)
                update = exp_avg.clone().mul_(beta1).add(grad, alpha=1 - beta1)
                p.add_(update.sign_(), alpha=-lr)
                exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
        return None

    def _step_foreach(self, group):
        """Same arithmetic on one flat buffer for all parameters of the group."""
        lr, wd = group["lr"], group["weight_decay"]
        beta1, beta2 = group["betas"]
        params = [p for p in group["params"] if p.grad is not None]
        if "flat" not in group:
            flat = torch.cat([p.reshape(-1) for p in params])
            offset = 0
            for p in params:
                p.data = flat[offset : offset + p.numel()].view_as(p)
                offset += p.numel()
            group["flat"], group["flat_avg"] = flat, torch.zeros_like(flat)
        flat, exp_avg = group["flat"], group["flat_avg"]
        grad = torch.cat([p.grad.reshape(-1) for p in params])
        flat.mul_(1 - lr * wd)
        update = torch.lerp(exp_avg, grad, 1 - beta1)
        flat.add_(update.sign_(), alpha=-lr)
        exp_avg.lerp_(grad, 1 - beta2)


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return torch.addcmul(x, self.scale, F.relu(self.fc(self.norm(x)))) + self.shift


class TabularNet(nn.Module):
    def __init__(self, features, width, depth):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.blocks = nn.Sequential(*[ResBlock(width) for _ in range(depth)])
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x))).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=48)
    args = parser.parse_args()

    torch.manual_seed(7)
    torch.set_num_threads(1)
    features, target = make_friedman1(8192, n_features=12, noise=0.5, random_state=7)
    x = torch.tensor(features, dtype=torch.float32)
    y = torch.tensor((target - target.mean()) / target.std(), dtype=torch.float32)

    model = TabularNet(12, 32, depth=64)
    optimizer = Lion(model.parameters(), lr=3e-4, weight_decay=0.02, foreach=args.fixed)
    base_lr = 3e-4
    running = torch.zeros(())

    clock = StepClock()
    for step in range(args.steps):
        pick = torch.randint(0, len(x), (args.batch_size,))
        warm = min(1.0, (step + 1) / 20)
        decay = 0.5 * (1 + math.cos(math.pi * step / args.steps))
        for group in optimizer.param_groups:
            group["lr"] = base_lr * warm * decay
        loss = F.mse_loss(model(x[pick]), y[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = 0.95 * running + 0.05 * loss.detach()
        if (step + 1) % 100 == 0:
            print(f"step {step + 1:4d}  smoothed mse {running.item():.4f}")
        clock.tick()
    clock.dump()


if __name__ == "__main__":
    main()
