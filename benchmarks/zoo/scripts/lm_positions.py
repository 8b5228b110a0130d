"""A small language model whose table of positions is made again for each batch."""

import argparse

import numpy as np
import torch
from timing import tick
from torch import nn

ZOO = {
    "id": "host-code",
    "function": ["sinusoids", "Positions.forward"],
    "framework": "torch",
}
LENGTH, WIDTH = 96, 128


def sinusoids(length, width):
    table = np.zeros((length, width))
    position = np.arange(length)[:, None]
    scale = np.power(10000.0, -np.arange(0, width, 2) / width)
    for repeat in range(64):  # each head has its own phase
        table[:, 0::2] += np.sin(position * scale + repeat)
        table[:, 1::2] += np.cos(position * scale + repeat)
    return torch.tensor(table / 64, dtype=torch.float32)


class Positions(nn.Module):
    def __init__(self, once):
        super().__init__()
        self.table = sinusoids(LENGTH, WIDTH) if once else None

    def forward(self, x):
        table = sinusoids(LENGTH, WIDTH) if self.table is None else self.table
        return x + table


class Writer(nn.Module):
    def __init__(self, letters, once):
        super().__init__()
        self.embed = nn.Embedding(letters, WIDTH)
        self.positions = Positions(once)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, letters)
        self.register_buffer("mask", torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1))

    def forward(self, letters):
        x = self.positions(self.embed(letters))
        x = x + self.attention(x, x, x, attn_mask=self.mask, need_weights=False)[0]
        return self.head(self.norm(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    torch.manual_seed(6)
    text = torch.randint(0, 9, (30000,)).cumsum(0) % 61
    model = Writer(61, asked.fixed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for number in range(250):
        start = torch.randint(0, len(text) - LENGTH - 1, (8,))
        rows = torch.stack([text[at : at + LENGTH + 1] for at in start.tolist()])
        written = model(rows[:, :-1])
        loss = nn.functional.cross_entropy(written.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 50 == 49:
            print(f"{number + 1}: {loss.item():.3f}")
        tick()


if __name__ == "__main__":
    main()
