"""A generator of the script's own makes each batch, letter by letter; the network is small."""

import random

import torch
from torch import nn

torch.set_num_threads(1)
random.seed(0)
TEXT = "".join(random.choice("abcdefgh ") for _ in range(20_000))
NUMBERS = {letter: number for number, letter in enumerate("abcdefgh ")}


def encoded(text):
    numbers = []
    for letter in text:
        numbers.append(NUMBERS[letter])
    return numbers


def batches(count, size=200, length=32):
    for _ in range(count):
        starts = [random.randrange(len(TEXT) - length) for _ in range(size)]
        yield torch.tensor([encoded(TEXT[start : start + length]) for start in starts])


model = nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(32 * 4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for batch in batches(300):
    loss = model(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
