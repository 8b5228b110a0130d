"""Which bird sings? Log-mel spectrograms on the fly, SpecAugment, and a small CNN."""

import argparse
import logging
import math
import time

import torch
from timing import tick
from torch import nn

ZOO = {"id": None, "function": None, "framework": "torch"}

log = logging.getLogger("birdcall")
RATE, N_FFT, HOP, N_MELS, SPECIES = 8000, 256, 96, 40, 8


def mel_filters():
    """Triangles on the mel scale, one at a time; (frequencies, mels)."""

    def to_mel(hz):
        return 2595 * math.log10(1 + hz / 700)

    def to_hz(mel):
        return 700 * (10 ** (mel / 2595) - 1)

    top = to_mel(RATE / 2)
    edges = [to_hz(top * i / (N_MELS + 1)) for i in range(N_MELS + 2)]
    filters = torch.zeros(N_FFT // 2 + 1, N_MELS)
    for m in range(N_MELS):
        low, middle, high = edges[m : m + 3]
        for k in range(N_FFT // 2 + 1):
            hz = k * RATE / N_FFT
            rise, fall = (hz - low) / (middle - low), (high - hz) / (high - middle)
            filters[k, m] = max(0.0, min(rise, fall))
    return filters


class LogMel(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(N_FFT))
        self.register_buffer("filters", mel_filters())

    @torch.no_grad()
    def forward(self, audio):
        spectrum = torch.stft(audio, N_FFT, HOP, window=self.window, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()
        mel = (power.transpose(1, 2) @ self.filters).clamp(min=1e-6).log()
        return (mel - mel.mean(dim=(1, 2), keepdim=True)).unsqueeze(1)


class SpecAugment(nn.Module):
    """One stripe in time and one in frequency per call."""

    def forward(self, x):
        if self.training:
            t, f = int(torch.randint(x.shape[2] - 8, ())), int(torch.randint(N_MELS - 6, ()))
            x[:, :, t : t + 8] = 0
            x[..., f : f + 6] = 0
        return x


def classifier(c=16):
    return nn.Sequential(
        nn.Conv2d(1, c, 5, stride=2, padding=2),
        nn.BatchNorm2d(c),
        nn.ReLU(),
        nn.Conv2d(c, 2 * c, 3, stride=2, padding=1),
        nn.BatchNorm2d(2 * c),
        nn.ReLU(),
        nn.Conv2d(2 * c, 4 * c, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * c, SPECIES),
    )


def calls(count):
    """A chirp per species, somewhere in three quarters of a second of noise."""
    t = torch.arange(6000) / RATE
    species = torch.randint(SPECIES, (count,))
    start = 900 + 250 * species.unsqueeze(1)
    sweep = 600 * torch.sin(2 * math.pi * (2 + species.unsqueeze(1) / 2) * t)
    envelope = torch.exp(-(((t - 0.2 - 0.35 * torch.rand(count, 1)) / 0.08) ** 2))
    phase = 2 * math.pi * ((start + sweep) / RATE).cumsum(1)
    return envelope * phase.sin() + 0.2 * torch.randn(count, len(t)), species


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="no difference")
    parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    torch.manual_seed(10)
    audio, species = calls(1200)
    model = nn.Sequential(LogMel(), SpecAugment(), classifier())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    step, start = 0, time.perf_counter()
    for _ in range(12):
        for rows in torch.randperm(len(audio)).split(48):
            loss = criterion(model(audio[rows]), species[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 50 == 0:
                took = 1000 * (time.perf_counter() - start) / step
                log.info("step %d: loss %.3f, %.1f ms per step", step, loss.item(), took)
            tick()


if __name__ == "__main__":
    main()
