"""Assignment 4: instance discrimination with a memory bank, on two workers.

Every image is its own class. The encoder is trained with DistributedDataParallel; the
negatives come from a memory bank that holds one unit vector per training image.
Worker r owns the images r*N/2 ... (r+1)*N/2 and sees only those, but its negatives are
drawn from everybody's images, so the workers have to tell each other what changed.
"""

import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from timing import tick
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ZOO = {"id": "exposed-communication", "function": "MemoryBank.share", "framework": "torch"}

WORLD = 2
N_IMAGES = 32768
DIM = 128
BATCH = 64
NEGATIVES = 512
TEMPERATURE = 0.2
MOMENTUM = 0.5
STEPS = 300


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.head = nn.Linear(64, DIM)

    def forward(self, x):
        return F.normalize(self.head(self.features(x).mean(dim=(2, 3))), dim=1)


class MemoryBank:
    """One vector per image; each worker writes its own part and reads all of it."""

    def __init__(self, rank, rows_only):
        start = torch.randn(N_IMAGES, DIM, generator=torch.Generator().manual_seed(5))
        self.vectors = F.normalize(start, dim=1)
        self.own = self.vectors.chunk(WORLD)[rank].clone()
        self.first = rank * (N_IMAGES // WORLD)
        self.rows_only = rows_only

    def negatives(self, generator):
        return self.vectors[torch.randint(0, N_IMAGES, (NEGATIVES,), generator=generator)]

    def update(self, index, z):
        moved = MOMENTUM * self.own[index] + (1 - MOMENTUM) * z
        self.own[index] = F.normalize(moved, dim=1)
        self.share(index)

    def share(self, index):
        if self.rows_only:
            rows = [torch.empty(BATCH, DIM) for _ in range(WORLD)]
            where = [torch.empty(BATCH, dtype=torch.int64) for _ in range(WORLD)]
            dist.all_gather(rows, self.own[index])
            dist.all_gather(where, index + self.first)
            self.vectors[torch.cat(where)] = torch.cat(rows)
        else:
            dist.all_gather(list(self.vectors.chunk(WORLD)), self.own)


def make_images(rank):
    g = torch.Generator().manual_seed(100 + rank)
    count = N_IMAGES // WORLD
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 16), torch.linspace(-1, 1, 16), indexing="ij")
    angle, freq, phase = (torch.rand(3, count, 1, 1, generator=g) * 6.28).unbind(0)
    waves = torch.sin(freq * (xx * angle.cos() + yy * angle.sin()) + phase)
    return waves.unsqueeze(1)


def train(rank, fixed):
    images = make_images(rank)
    encoder = DDP(Encoder())
    bank = MemoryBank(rank, rows_only=fixed)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.02, momentum=0.9)
    target = torch.zeros(BATCH, dtype=torch.int64)
    g = torch.Generator().manual_seed(rank)
    order = torch.randperm(len(images), generator=g)

    for step in range(STEPS):
        at = step * BATCH % len(images)
        index = order[at : at + BATCH]
        x = images[index]
        x = x + 0.1 * torch.randn(x.shape, generator=g)
        z = encoder(x)
        positive = (z * bank.own[index]).sum(dim=1, keepdim=True)
        logits = torch.cat([positive, z @ bank.negatives(g).T], dim=1) / TEMPERATURE
        loss = F.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.update(index, z.detach())
        if rank == 0:
            if step % 100 == 0:
                print(f"step {step:4d}  nce {loss.item():.4f}")
            tick()
    if rank == 0:
        print(f"last nce {loss.item():.4f}")


def worker(rank, port, fixed):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train(rank, fixed)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(port, args.fixed), nprocs=WORLD)
