"""Contrastive pretraining on synthetic bird calls: two augmented views of a clip attract."""

import argparse
import functools
import random

import torch
import torch.nn.functional as F
from timing import tick
from torch import nn
from torch.utils.data import DataLoader, Dataset

ZOO = {
    "id": "thread-oversubscription",
    "function": ["init_worker", "Calls.view", "Calls.__getitem__"],
    "framework": "torch",
}

RATE = 8000
SAMPLES = 16384
BINS = 256


class Calls(Dataset):
    """Chirps in noise. An item is two views: other noise, another gain, another band mask."""

    def __init__(self, clips):
        self.clips = clips
        self.seconds = torch.arange(SAMPLES) / RATE
        self.mels = torch.rand(48, BINS + 1, generator=torch.Generator().manual_seed(0)).pow(8)

    def __len__(self):
        return self.clips

    def call(self, index):
        low = 300 + 37 * (index % 40)
        sweep = 150 * (index % 7 - 3)
        return torch.sin(2 * torch.pi * (low + sweep * self.seconds) * self.seconds)

    def view(self, wave):
        noisy = wave * random.uniform(0.5, 1.0) + 0.3 * torch.randn(SAMPLES)
        noisy = torch.roll(noisy, random.randrange(SAMPLES))
        spectrum = torch.stft(
            noisy, 2 * BINS, hop_length=128, window=torch.hann_window(2 * BINS), return_complex=True
        )
        mel = torch.log1p(self.mels @ spectrum.abs().square())
        band = random.randrange(40)
        mel[band : band + 8] = 0
        return (mel - mel.mean()) / mel.std()

    def __getitem__(self, index):
        wave = self.call(index)
        return self.view(wave), self.view(wave)


class Encoder(nn.Module):
    def __init__(self, channels=96):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(48, channels, 5, stride=2),
            nn.GELU(),
            nn.Conv1d(channels, 2 * channels, 5, stride=2),
            nn.GELU(),
            nn.Conv1d(2 * channels, 2 * channels, 3),
            nn.GELU(),
        )
        self.head = nn.Linear(2 * channels, 64)

    def forward(self, mel):
        return F.normalize(self.head(self.body(mel).mean(dim=2)), dim=1)


def info_nce(a, b, temperature=0.1):
    logits = a @ b.T / temperature
    target = torch.arange(len(a))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def init_worker(worker_id, threads):
    random.seed(worker_id)
    torch.manual_seed(worker_id)
    torch.set_num_threads(threads)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--clips", type=int, default=2560)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker-threads", type=int, default=16)
    args = parser.parse_args()
    if args.fixed:
        args.worker_threads = 1

    torch.manual_seed(0)
    loader = DataLoader(
        Calls(args.clips),
        batch_size=args.batch_size,
        shuffle=True,
        drop_last=True,
        num_workers=args.workers,
        persistent_workers=True,
        worker_init_fn=functools.partial(init_worker, threads=args.worker_threads),
    )
    encoder = Encoder()
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        total = 0.0
        for first, second in loader:
            loss = info_nce(encoder(first), encoder(second))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            tick()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
