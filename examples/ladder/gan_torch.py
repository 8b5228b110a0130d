"""Train a GAN that draws digits, in PyTorch: written to work, not to be fast.

See how fast it can be:  stepscope try --ladder examples/ladder/gan_torch.py
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

DATA = Path(__file__).parent.parent / "data" / "pictures"
SIZE = 28
NOISE = 64

torch.set_default_dtype(torch.float64)  # what NumPy reads, so that the two fit together


class Digits(Dataset):
    """One text file a picture."""

    def __init__(self, folder):
        self.files = sorted(folder.glob("*.txt"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        picture = np.loadtxt(self.files[index])
        return torch.from_numpy(scaled(smoothed(picture))).unsqueeze(0)


def smoothed(picture):
    """Each pixel becomes the mean of its neighbourhood: the digits have hard edges."""
    padded = np.pad(picture, 1, mode="edge")
    shifted = [padded[y : y + SIZE, x : x + SIZE] for y in range(3) for x in range(3)]
    return np.mean(shifted, axis=0)


def scaled(picture):
    """To the range of the generator's tanh."""
    return 2 * picture / picture.max() - 1


def initialise(layer):
    """As the paper of DCGAN does."""
    if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
        nn.init.normal_(layer.weight, 0, 0.02)


def make_generator(width):
    return nn.Sequential(
        nn.Linear(NOISE, 4 * width * 49),
        nn.Unflatten(1, (4 * width, 7, 7)),
        nn.BatchNorm2d(4 * width),
        nn.ReLU(),
        nn.ConvTranspose2d(4 * width, 2 * width, 4, stride=2, padding=1),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, 1, 3, padding=1),
        nn.Tanh(),
    ).apply(initialise)


def make_discriminator(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
        nn.BatchNorm2d(2 * width),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(2 * width * 49, 1),
    ).apply(initialise)


class Gan:
    """Both networks and their optimizers."""

    def __init__(self, width, rate):
        self.generator, self.discriminator = make_generator(width), make_discriminator(width)
        self.optimizer_g = torch.optim.Adam(self.generator.parameters(), rate, (0.5, 0.999))
        self.optimizer_d = torch.optim.Adam(self.discriminator.parameters(), rate, (0.5, 0.999))

    def train_step(self, real):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = self.generator(torch.randn(len(real), NOISE))
        on_real, on_fake = self.discriminator(real), self.discriminator(fake.detach())
        loss_d = F.binary_cross_entropy_with_logits(on_real, ones)
        loss_d = loss_d + F.binary_cross_entropy_with_logits(on_fake, zeros)
        self.optimizer_d.zero_grad()
        loss_d.backward()
        self.optimizer_d.step()

        loss_g = F.binary_cross_entropy_with_logits(self.discriminator(fake), ones)
        self.optimizer_g.zero_grad()
        loss_g.backward()
        self.optimizer_g.step()
        return loss_d.item(), loss_g.item()


def train(arguments):
    torch.manual_seed(0)
    loader = DataLoader(Digits(arguments.data), arguments.batch, shuffle=True, drop_last=True)
    gan = Gan(arguments.width, arguments.rate)
    for epoch in range(arguments.epochs):
        for real in loader:
            loss_d, loss_g = gan.train_step(real)
        print(f"epoch {epoch:2d}  discriminator {loss_d:.3f}  generator {loss_g:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=8)
    parser.add_argument("--rate", type=float, default=2e-4)
    train(parser.parse_args())


if __name__ == "__main__":
    main()
