"""Writes traces of trainings on the CPU with torch's own profiler, one per fault:
cpu_traces.py FOLDER"""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)
FOLDER = Path(sys.argv[1])
BATCHES = 12


class Samples(Dataset):
    def __init__(self, work):
        self.work = work

    def __len__(self):
        return 16 * BATCHES

    def __getitem__(self, index):
        total = 0
        for number in range(self.work):
            total += (number * index) % 7
        return torch.full((64,), total * 1e-9), index % 8


def wide(kind=torch.float32):
    layers = nn.Sequential(
        nn.Linear(64, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 8)
    )
    return layers.to(kind)


def deep(layers):
    return nn.Sequential(*(nn.Linear(64, 64) for _ in range(layers)), nn.Linear(64, 8))


class Small(nn.Module):
    """Hundreds of operators with hardly anything to compute."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 2), nn.Linear(2, 8)

    def forward(self, x):
        x = self.first(x)
        for _ in range(300):
            x = torch.tanh(x) + x
        return self.last(x)


def train(model, optimizer, work=0, copies=1, kind=torch.float32, prof=None):
    for x, y in DataLoader(Samples(work), batch_size=16):
        scores = model(x.to(kind).repeat(copies, 1))
        loss = nn.functional.cross_entropy(scores, y.repeat(copies))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if prof is not None:
            prof.step()


def written(name, model, optimizer, steps=None, shapes=True, stacks=False, **how):
    with profile(
        activities=[ProfilerActivity.CPU], record_shapes=shapes, with_stack=stacks, schedule=steps
    ) as prof:
        train(model, optimizer, prof=prof if steps else None, **how)
    prof.export_chrome_trace(str(FOLDER / f"{name}.json"))


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=1e-3, foreach=True)


def main():
    model = wide()
    written("input", model, sgd(model), work=4000, copies=4, shapes=False)
    every = schedule(wait=1, warmup=1, active=8, repeat=1)
    written("input_marked", model, sgd(model), work=4000, copies=4, steps=every)
    written("input_stacks", model, sgd(model), work=4000, copies=4, stacks=True)
    written("healthy", model, sgd(model), copies=64)
    layers = deep(24)
    adam = torch.optim.Adam(layers.parameters(), lr=1e-3, foreach=False)
    written("optimizer", layers, adam)
    model = Small()
    written("small", model, sgd(model))
    model = wide(torch.float64)
    written("double", model, sgd(model), copies=8, kind=torch.float64)


main()
