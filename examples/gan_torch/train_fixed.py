"""Train a small GAN on the digits, in PyTorch: the data set is read once.

See what that gained:  diff -u examples/gan_torch/train.py examples/gan_torch/train_fixed.py
"""

import argparse
import functools
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

DATA = Path(__file__).parent.parent / "data" / "digits.npz"
NOISE = 64


@functools.cache
def get_dataset(path):
    """All pictures."""
    with np.load(path) as data:
        images = data["images"]
    return images


def get_batch(path, size, rng):
    images = get_dataset(path)
    chosen = images[rng.integers(0, len(images), size=size)]
    return torch.from_numpy(chosen).float().view(size, 1, 28, 28) / 127.5 - 1


class Generator(nn.Sequential):
    def __init__(self, width):
        super().__init__(
            nn.Linear(NOISE, 2 * width * 49),
            nn.Unflatten(1, (2 * width, 7, 7)),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1),
            nn.Tanh(),
        )


class Discriminator(nn.Sequential):
    def __init__(self, width):
        super().__init__(
            nn.Conv2d(1, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(2 * width * 49, 1),
        )


class Gan:
    """Both networks and their optimizers."""

    def __init__(self, width, rate):
        self.generator, self.discriminator = Generator(width), Discriminator(width)
        self.optimizer_g = torch.optim.Adam(self.generator.parameters(), rate, (0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(self.discriminator.parameters(), rate, (0.5, 0.999))

    def forward(self, path, size, rng):
        """Pictures of the generator, and what the discriminator makes of them and of real ones."""
        real = get_batch(path, size, rng)
        fake = self.generator(torch.randn(size, NOISE))
        return fake, self.discriminator(real), self.discriminator(fake.detach())

    def train_step(self, path, size, rng):
        fake, on_real, on_fake = self.forward(path, size, rng)
        loss_d = (F.softplus(-on_real) + F.softplus(on_fake)).mean()
        self.optimizer_d.zero_grad()
        loss_d.backward()
        self.optimizer_d.step()

        loss_g = F.softplus(-self.discriminator(fake)).mean()
        self.optimizer_g.zero_grad()
        loss_g.backward()
        self.optimizer_g.step()
        return loss_d.item(), loss_g.item()


def train(arguments):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    gan = Gan(arguments.width, arguments.rate)
    for step in range(arguments.steps):
        began = time.perf_counter()
        loss_d, loss_g = gan.train_step(arguments.data, arguments.batch, rng)
        step_time = time.perf_counter() - began
        if step % 10 == 0 or step == arguments.steps - 1:
            print(
                f"step {step:3d}  discriminator {loss_d:.3f}  generator {loss_g:.3f}"
                f"  step_time {1e3 * step_time:.1f} ms"
                f"  throughput {arguments.batch / step_time:,.0f} img/s"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-4)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
