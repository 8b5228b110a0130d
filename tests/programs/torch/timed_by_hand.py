"""Takes the time of each phase itself and writes it down, step by step."""

import json
import sys
import time

import torch
from parts import loader, seeded
from torch import nn

seeded()
model = nn.Sequential(nn.Linear(4096, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
loss_function = nn.CrossEntropyLoss()
by_hand = []


class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 60 * 32

    def __getitem__(self, index):
        return torch.full((65536,), float(index)).sin().cos().exp()[:4096], index % 10


batches = iter(torch.utils.data.DataLoader(Slow(), batch_size=32))
while True:
    began = time.perf_counter_ns()
    try:
        images, labels = next(batches)
    except StopIteration:
        break
    fetched = time.perf_counter_ns()
    loss = loss_function(model(images), labels)
    forward = time.perf_counter_ns()
    optimizer.zero_grad()
    cleared = time.perf_counter_ns()
    loss.backward()
    backward = time.perf_counter_ns()
    optimizer.step()
    stepped = time.perf_counter_ns()
    by_hand.append(
        {
            "input": fetched - began,
            "forward": forward - fetched,
            "backward": backward - cleared,
            "optimizer": cleared - forward + stepped - backward,
        }
    )
with open(sys.argv[1], "w") as file:
    json.dump(by_hand, file)
