"""Losses are collected as tensors, each of which holds its whole graph."""

import argparse

import torch
from timing import tick
from torch import nn

ZOO = {"id": "memory-growth", "function": "train", "framework": "torch"}


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(1, 32, 7, padding=3), nn.GELU(), nn.Conv1d(32, 32, 7, padding=3), nn.GELU()
        )
        self.out = nn.Conv1d(32, 1, 7, padding=3)

    def forward(self, x):
        return x - self.out(self.body(x))


def smoothness(signal):
    return (signal[..., 1:] - signal[..., :-1]).abs().mean()


def train(fixed):
    torch.manual_seed(0)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    penalties = []
    for step in range(120):
        clean = torch.sin(torch.linspace(0, 20, 512) * (1 + torch.rand(12, 1, 1)))
        restored = model(clean + 0.3 * torch.randn_like(clean))
        loss = nn.functional.mse_loss(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        penalty = smoothness(model(clean))
        penalties.append(penalty.detach() if fixed else penalty)
        if step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f} smoothness {penalties[-1].item():.4f}")
        tick()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    train(parser.parse_args().fixed)
