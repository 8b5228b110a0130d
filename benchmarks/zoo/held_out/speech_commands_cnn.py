#!/usr/bin/env python
"""Keyword spotting on one-second clips: log-mel features, small CNN."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

from step_clock import StepClock

ZOO = {"id": "input-bound", "function": ["LogMel.__call__", "LogMel.__call__.<locals>.<listcomp>", "SpeechCommands.__getitem__"], "framework": "torch", "also": ["python-hot-loop"]}

RATE = 16000
WORDS = ["yes", "no", "up", "down", "left", "right", "on", "off"]


def synth_clip(word, rng):
    """Two formants that glide differently for each word."""
    t = np.arange(RATE, dtype=np.float32) / RATE
    f1 = 300 + 90 * word + rng.uniform(-20, 20)
    f2 = 2400 - 170 * word + rng.uniform(-60, 60)
    glide = 1 + 0.3 * np.cos(np.pi * t * (1 + word % 3))
    voice = np.sin(2 * np.pi * f1 * t * glide) + 0.6 * np.sin(2 * np.pi * f2 * t)
    envelope = np.exp(-((t - rng.uniform(0.35, 0.65)) / 0.18) ** 2)
    return (0.3 * voice * envelope).astype(np.float32)


class LogMel:
    def __init__(self, n_fft=512, hop=160, n_mels=40, batched=False):
        self.n_fft, self.hop, self.batched = n_fft, hop, batched
        self.window = np.hanning(n_fft).astype(np.float32)
        edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + RATE / 2 / 700), n_mels + 2) / 2595) - 1)
        freqs = np.linspace(0, RATE / 2, n_fft // 2 + 1)
        up = (freqs[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
        down = (edges[2:, None] - freqs[None]) / (edges[2:] - edges[1:-1])[:, None]
        self.bank = np.maximum(0, np.minimum(up, down)).astype(np.float32)

    def __call__(self, wave):
        if self.batched:
            frames = np.lib.stride_tricks.sliding_window_view(wave, self.n_fft)[::self.hop]
            power = np.abs(np.fft.rfft(frames * self.window, axis=1)) ** 2
            return np.log(self.bank @ power.T.astype(np.float32) + 1e-6)
        columns = []
        for start in range(0, len(wave) - self.n_fft + 1, self.hop):
            frame = wave[start:start + self.n_fft] * self.window
            power = np.abs(np.fft.rfft(frame)) ** 2
            energies = [np.dot(band, power.astype(np.float32)) for band in self.bank]
            columns.append(np.log(np.array(energies) + 1e-6))
        return np.stack(columns, axis=1).astype(np.float32)


class SpeechCommands(Dataset):
    def __init__(self, size, seed, batched):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, len(WORDS), size)
        self.clips = [synth_clip(w, rng) for w in self.labels]
        self.noise = rng.normal(0, 0.1, RATE * 20).astype(np.float32)
        self.features = LogMel(batched=batched)

    def __len__(self):
        return len(self.clips)

    def augment(self, clip, rng):
        speed = rng.uniform(0.9, 1.1)
        grid = np.arange(RATE) * speed
        clip = np.interp(grid, np.arange(RATE), clip, right=0.0)
        clip = np.roll(clip, rng.integers(-1600, 1600))
        start = rng.integers(0, len(self.noise) - RATE)
        return (clip + rng.uniform(0, 1) * self.noise[start:start + RATE]).astype(np.float32)

    def __getitem__(self, key):
        index, seed = key
        rng = np.random.default_rng(seed)
        wave = self.augment(self.clips[index], rng)
        mel = self.features(wave)
        return torch.from_numpy(mel[None]), int(self.labels[index])


class SeededSampler(Sampler):
    """Random order; every draw carries the seed of its augmentation."""

    def __init__(self, size, seed):
        self.size = size
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.size

    def __iter__(self):
        for index in self.rng.permutation(self.size):
            yield int(index), int(self.rng.integers(2 ** 31))


def build_loader(dataset, args):
    sampler = SeededSampler(len(dataset), args.seed)
    return DataLoader(dataset, batch_size=args.batch_size, sampler=sampler, drop_last=True)


def build_model():
    def block(cin, cout):
        return [nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 48),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, len(WORDS)))


def run_epoch(model, loader, optimizer, clock):
    losses, hits, seen = [], 0, 0
    for mel, label in loader:
        optimizer.zero_grad()
        logits = model(mel)
        loss = nn.functional.cross_entropy(logits, label)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        hits += (logits.argmax(1) == label).sum().item()
        seen += len(label)
        clock.tick()
    return np.mean(losses), hits / seen


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=24)
    ap.add_argument("--size", type=int, default=480)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--fixed", action="store_true", help="use the faster variant")
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    dataset = SpeechCommands(args.size, args.seed, batched=args.fixed)
    loader = build_loader(dataset, args)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, fused=True)
    clock = StepClock()
    for epoch in range(args.epochs):
        loss, acc = run_epoch(model, loader, optimizer, clock)
        print(f"[{epoch}] train loss {loss:.4f} acc {100 * acc:.1f}%")
    clock.dump()


if __name__ == "__main__":
    main()
