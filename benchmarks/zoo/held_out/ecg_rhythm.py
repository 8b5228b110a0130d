"""Rhythm classification from noisy single-lead ECG with a small convolutional network."""

import argparse

import numpy as np
import torch
from scipy import signal
from step_clock import StepClock
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {"id": "input-bound", "function": ["EcgWindows.__getitem__", "clean"], "framework": "torch"}

RATE = 360
SECONDS = 10


def synthetic_ecg(rng, label):
    """Spikes at a rate and regularity that depend on the label, baseline wander and mains hum."""
    t = np.arange(RATE * SECONDS) / RATE
    gap = (1.0, 0.6, 0.8)[label]
    jitter = (0.02, 0.02, 0.25)[label]
    wave = np.zeros_like(t)
    beat = rng.uniform(0, gap)
    while beat < SECONDS:
        wave += np.exp(-(((t - beat) / 0.02) ** 2)) + 0.25 * np.exp(
            -(((t - beat - 0.25) / 0.06) ** 2)
        )
        beat += max(0.3, gap + jitter * rng.normal())
    wander = 0.5 * np.sin(2 * np.pi * 0.2 * t + rng.uniform(0, 6))
    hum = 0.2 * np.sin(2 * np.pi * 50 * t)
    return (wave + wander + hum + 0.05 * rng.normal(size=t.size)).astype(np.float32)


def clean(wave):
    """Band-pass, notch out the mains, resample to 120 Hz, scale to unit variance."""
    band = signal.butter(4, [0.5, 40.0], btype="bandpass", fs=RATE, output="sos")
    wave = signal.sosfiltfilt(band, wave)
    b, a = signal.iirnotch(50.0, 30.0, fs=RATE)
    wave = signal.filtfilt(b, a, wave)
    wave = signal.resample_poly(wave, 1, 3)
    return ((wave - wave.mean()) / wave.std()).astype(np.float32)


class EcgWindows(Dataset):
    def __init__(self, n, seed, clean_ahead):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(3, size=n)
        self.waves = [synthetic_ecg(rng, label) for label in self.labels]
        self.clean_ahead = clean_ahead
        if clean_ahead:
            self.waves = [clean(wave) for wave in self.waves]

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        wave = self.waves[index]
        if not self.clean_ahead:
            wave = clean(wave)
        return torch.from_numpy(wave).unsqueeze(0), int(self.labels[index])


def make_network():
    def block(inputs, outputs):
        return nn.Sequential(
            nn.Conv1d(inputs, outputs, 7, stride=2, padding=3),
            nn.BatchNorm1d(outputs),
            nn.ReLU(inplace=True),
        )

    return nn.Sequential(
        block(1, 32),
        block(32, 48),
        block(48, 64),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(64, 3),
    )


def accuracy(network, loader):
    network.eval()
    right = total = 0
    with torch.no_grad():
        for waves, labels in loader:
            right += (network(waves).argmax(dim=1) == labels).sum().item()
            total += len(labels)
    network.train()
    return right / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()

    torch.manual_seed(0)
    train_set = EcgWindows(960, seed=0, clean_ahead=args.fixed)
    test_set = EcgWindows(96, seed=1, clean_ahead=True)
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=96)

    network = make_network()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()

    clock = StepClock()
    for epoch in range(1, args.epochs + 1):
        for waves, labels in train_loader:
            optimizer.zero_grad()
            loss = criterion(network(waves), labels)
            loss.backward()
            optimizer.step()
            clock.tick()
        print(f"Epoch {epoch}: loss {loss.item():.3f}, test {accuracy(network, test_loader):.3f}")
        clock.start()
    clock.dump()


if __name__ == "__main__":
    main()
