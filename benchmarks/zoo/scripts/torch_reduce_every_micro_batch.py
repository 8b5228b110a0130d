"""Two ranks exchange all gradients after every micro-batch instead of once a step."""

import argparse
import contextlib
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from timing import tick
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ZOO = {"id": "exposed-communication", "function": "train", "framework": "torch"}

MICRO_BATCHES = 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def train(rank, port, fixed):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.Linear(512, 8))
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    directions = torch.randn(8, 512, generator=torch.Generator().manual_seed(9))
    for step in range(60):
        optimizer.zero_grad()
        for micro in range(MICRO_BATCHES):
            y = torch.randint(0, 8, (32,), generator=generator)
            x = directions[y] * 0.3 + torch.randn(32, 512, generator=generator)
            last = micro == MICRO_BATCHES - 1
            with model.no_sync() if fixed and not last else contextlib.nullcontext():
                loss = nn.functional.cross_entropy(model(x), y) / MICRO_BATCHES
                loss.backward()
        optimizer.step()
        if rank == 0:
            if step % 20 == 0:
                print(f"step {step}: {loss.item() * MICRO_BATCHES:.4f}")
            tick()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    mp.spawn(train, args=(free_port(), arguments.fixed), nprocs=2)
