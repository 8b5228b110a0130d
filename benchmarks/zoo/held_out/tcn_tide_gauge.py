"""Forecasts a tide gauge, hour by hour, with a temporal convolutional network (TCN)."""

import argparse
import itertools
import math
import time

import torch
from timing import tick
from torch import nn
from torch.nn.functional import pad, smooth_l1_loss

ZOO = {
    "id": "evaluation-stall",
    "function": ["rolling_forecast", "validation_error"],
    "framework": "torch",
}

WINDOW, HORIZON, BATCH = 120, 24, 32


def make_series(hours=12_000):
    t = torch.arange(hours, dtype=torch.float32)
    periods, heights = (12.42, 12.0, 23.93, 25.82, 327.9), (1.0, 0.46, 0.58, 0.41, 0.2)
    tide = sum(
        h * torch.sin(2 * math.pi * t / p + p) for p, h in zip(periods, heights, strict=True)
    )
    surge = torch.randn(hours).cumsum(0) * 0.02
    return tide + surge - surge.mean() + 0.05 * torch.randn(hours)


class CausalBlock(nn.Module):
    def __init__(self, n_in, n_out, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv1 = nn.Conv1d(n_in, n_out, 3, dilation=dilation)
        self.conv2 = nn.Conv1d(n_out, n_out, 3, dilation=dilation)
        self.skip = nn.Conv1d(n_in, n_out, 1) if n_in != n_out else nn.Identity()

    def forward(self, x):
        out = self.conv1(pad(x, (self.left, 0))).relu()
        out = self.conv2(pad(out, (self.left, 0))).relu()
        return out + self.skip(x)


class TCN(nn.Module):
    def __init__(self, channels=(24, 24, 24, 24)):
        super().__init__()
        sizes = [1, *channels]
        self.blocks = nn.Sequential(
            *[CausalBlock(a, b, 2**i) for i, (a, b) in enumerate(itertools.pairwise(sizes))]
        )
        self.head = nn.Conv1d(channels[-1], 1, 1)

    def forward(self, x):  # x: (batch, time), out: the next value at each time
        return self.head(self.blocks(x.unsqueeze(1))).squeeze(1)


def windows(series, starts, length):
    return series[starts.unsqueeze(1) + torch.arange(length)]


@torch.no_grad()
def rolling_forecast(model, history, horizon):
    """Appends each prediction to the history and predicts the next one."""
    for _ in range(horizon):
        following = model(history[:, -WINDOW:])[:, -1:]
        history = torch.cat([history, following], dim=1)
    return history[:, -horizon:]


def validation_error(model, series, n_windows=48):
    model.eval()
    starts = torch.linspace(0, len(series) - WINDOW - HORIZON - 1, n_windows).long()
    both = windows(series, starts, WINDOW + HORIZON)
    forecast = rolling_forecast(model, both[:, :WINDOW], HORIZON)
    model.train()
    return (forecast - both[:, WINDOW:]).abs().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--fixed", action="store_true", help="validate less often")
    args = parser.parse_args()
    eval_every = 100 if args.fixed else 10

    torch.manual_seed(2024)
    series = make_series()
    train_part, valid_part = series[:10_000], series[10_000:]
    model = TCN()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    best, began = float("inf"), time.monotonic()
    for iteration in range(1, args.iterations + 1):
        starts = torch.randint(len(train_part) - WINDOW - 1, (BATCH,))
        batch = windows(train_part, starts, WINDOW + 1)
        loss = smooth_l1_loss(model(batch[:, :-1]), batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if iteration % eval_every == 0:
            best = min(best, validation_error(model, valid_part))
        if iteration % 100 == 0:
            ms = 1e3 * (time.monotonic() - began) / iteration
            print(f"{iteration:4d} train {loss.item():.4f} best MAE {best:.3f} ({ms:.1f} ms each)")
        tick()


if __name__ == "__main__":
    main()
