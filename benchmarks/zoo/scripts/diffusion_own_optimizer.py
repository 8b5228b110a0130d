"""A toy diffusion model whose own optimizer, Lion, updates one parameter after the other."""

import argparse
import math

import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "optimizer-unfused",
    "function": ["Lion.step", "Lion.one_by_one", "Diffusion.train_step", "Diffusion.fit"],
    "framework": "torch",
}


class Lion(torch.optim.Optimizer):
    """The sign of a moving average is the direction."""

    def __init__(self, parameters, lr, together):
        super().__init__(parameters, {"lr": lr})
        self.together = together
        for group in self.param_groups:
            group["average"] = [torch.zeros_like(p) for p in group["params"]]

    def one_by_one(self, weights, gradients, averages, rate):
        for weight, gradient, average in zip(weights, gradients, averages, strict=True):
            direction = average.mul(0.9)
            direction.add_(gradient, alpha=0.1)
            direction.sign_()
            weight.mul_(1 - 0.01 * rate)
            weight.add_(direction, alpha=-rate)
            average.mul_(0.99)
            average.add_(gradient, alpha=0.01)

    def all_together(self, weights, gradients, averages, rate):
        directions = torch._foreach_mul(averages, 0.9)
        torch._foreach_add_(directions, gradients, alpha=0.1)
        torch._foreach_sign_(directions)
        torch._foreach_mul_(weights, 1 - 0.01 * rate)
        torch._foreach_add_(weights, directions, alpha=-rate)
        torch._foreach_mul_(averages, 0.99)
        torch._foreach_add_(averages, gradients, alpha=0.01)

    @torch.no_grad()
    def step(self):
        update = self.all_together if self.together else self.one_by_one
        for group in self.param_groups:
            weights = group["params"]
            update(weights, [p.grad for p in weights], group["average"], group["lr"])


class Denoiser(nn.Module):
    """A chain of small residual layers, told how noisy its input is."""

    def __init__(self, depth=40, width=24):
        super().__init__()
        self.inward = nn.Linear(2 + 8, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.outward = nn.Linear(width, 2)

    def forward(self, x, time):
        waves = time[:, None] * torch.arange(1, 5) * math.pi
        h = self.inward(torch.cat([x, waves.sin(), waves.cos()], dim=1))
        for layer in self.layers:
            h = h + torch.tanh(layer(h)) * 0.2
        return self.outward(h)


class Diffusion:
    def __init__(self, together):
        self.denoiser = Denoiser()
        self.optimizer = Lion(self.denoiser.parameters(), 3e-4, together)

    def train_step(self, clean):
        time = torch.rand(len(clean))
        noise = torch.randn_like(clean)
        noisy = clean * (1 - time[:, None]).sqrt() + noise * time[:, None].sqrt()
        loss = nn.functional.mse_loss(self.denoiser(noisy, time), noise)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self, points, steps):
        for number in range(steps):
            loss = self.train_step(points[torch.randint(len(points), (128,))])
            if number % 50 == 49:
                print(f"{number + 1}: {loss:.3f}")
            tick()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(4)
    angle = torch.rand(4000) * 2 * math.pi
    points = torch.stack([angle.cos(), angle.sin()], dim=1)
    Diffusion(together=asked.fixed).fit(points, 250)


if __name__ == "__main__":
    main()
