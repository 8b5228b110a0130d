"""Train a variational autoencoder on the digits, in PyTorch, all at module level.

It learns, and it is slow. Find out why:  stepscope run examples/vae_torch/train.py
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

DATA = Path(__file__).parent.parent / "data" / "digits.npz"

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--data", type=Path, default=DATA)
parser.add_argument("--count", type=int, default=6_000, help="how many of the pictures to use")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch", type=int, default=100)
arguments = parser.parse_args()


class ToTensor:
    """A picture of bytes becomes a tensor of numbers from 0 to 1, channels first."""

    def __call__(self, picture):
        tensor = torch.from_numpy(np.array(picture, np.uint8, copy=True))
        tensor = tensor.view(picture.shape[0], picture.shape[1], 1)
        tensor = tensor.permute((2, 0, 1)).contiguous()
        return tensor.to(torch.get_default_dtype()).div(255)


class Digits(Dataset):
    def __init__(self, images, transform):
        self.images, self.transform = images, transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(self.images[index])


class Encoder(nn.Module):
    def __init__(self, hidden, latent):
        super().__init__()
        self.inner = nn.Linear(28 * 28, hidden)
        self.mean, self.log_var = nn.Linear(hidden, latent), nn.Linear(hidden, latent)

    def forward(self, x):
        inner = torch.relu(self.inner(x))
        return self.mean(inner), self.log_var(inner)


class Decoder(nn.Sequential):
    def __init__(self, hidden, latent):
        super().__init__(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 28 * 28), nn.Sigmoid()
        )


class Vae(nn.Module):
    def __init__(self, hidden=400, latent=20):
        super().__init__()
        self.encoder, self.decoder = Encoder(hidden, latent), Decoder(hidden, latent)

    def forward(self, x):
        mean, log_var = self.encoder(x)
        z = mean + torch.exp(0.5 * log_var) * torch.randn_like(mean)
        return self.decoder(z), mean, log_var


def loss_function(x, x_hat, mean, log_var):
    reproduction = F.binary_cross_entropy(x_hat, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp())
    return (reproduction + divergence) / len(x)


torch.manual_seed(0)
with np.load(arguments.data) as data:
    images = data["images"][: arguments.count]
loader = DataLoader(Digits(images, ToTensor()), arguments.batch, shuffle=True, drop_last=True)
model = Vae()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(arguments.epochs):
    began = time.perf_counter()
    total = 0.0
    for pictures in loader:
        x = pictures.view(-1, 28 * 28)
        optimizer.zero_grad()
        loss = loss_function(x, *model(x))
        loss.backward()
        optimizer.step()
        total += loss.item()
    step_time = (time.perf_counter() - began) / len(loader)
    print(
        f"epoch {epoch:2d}  loss {total / len(loader):.1f}  step_time {1e3 * step_time:.1f} ms"
        f"  throughput {arguments.batch / step_time:,.0f} img/s"
    )
