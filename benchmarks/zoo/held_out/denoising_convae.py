# Denoising convolutional autoencoder on the scikit-learn digits
# keeps the best model on disk

import argparse
import tempfile
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from timing import tick
from torch.utils.data import DataLoader, TensorDataset

ZOO = {
    "id": "checkpoint-stall",
    "function": ["BestModel.update", "BestModel.save"],
    "framework": "torch",
}


class ConvAutoencoder(nn.Module):
    def __init__(self, channels=24, code=512):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * channels, code),
            nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, 32 * channels),
            nn.ReLU(),
            nn.Unflatten(1, (2 * channels, 4, 4)),
            nn.ConvTranspose2d(2 * channels, channels, 2, stride=2),
            nn.ReLU(),
            nn.Conv2d(channels, 1, 3, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


class BestModel:
    """Saves the model when the smoothed loss is the lowest so far."""

    def __init__(self, path, model, optimizer):
        self.path, self.model, self.optimizer = path, model, optimizer
        self.best = float("inf")
        self.saved = 0

    def update(self, loss, epoch):
        if loss < self.best:
            self.best = loss
            self.save(epoch)

    def save(self, epoch):
        torch.save(
            {
                "epoch": epoch,
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "loss": self.best,
            },
            self.path,
        )
        self.saved += 1


def corrupt(x, amount=0.4):
    noisy = x + amount * torch.randn_like(x)
    return noisy.clamp(0, 1) * (torch.rand_like(x) > 0.15)


def train(args, folder):
    images = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16
    loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True, drop_last=True)
    model = ConvAutoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)
    best = BestModel(folder / "best.pt", model, optimizer)
    smooth, steps, start = None, 0, time.time()
    for epoch in range(args.epochs):
        for (clean,) in loader:
            output = model(corrupt(clean))
            loss = F.mse_loss(output, clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            value = loss.item()
            smooth = value if smooth is None else 0.95 * smooth + 0.05 * value
            steps += 1
            if not args.fixed:
                best.update(smooth, epoch)
            tick()
        if args.fixed and epoch % 3 == 2:
            best.update(smooth, epoch)
        if epoch % 3 == 2:
            speed = 1000 * (time.time() - start) / steps
            print(f"Epoch {epoch + 1:2d} loss {smooth:.4f} saved {best.saved}x {speed:.1f} ms/step")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--fixed", action="store_true", help="look for the best every three epochs")
    args = parser.parse_args()
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        train(args, Path(folder))
