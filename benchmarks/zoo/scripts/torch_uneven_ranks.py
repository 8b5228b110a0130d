"""Of two ranks, one got all the long sequences, and the other waits for it."""

import argparse
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from timing import tick
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ZOO = {"id": "straggler-rank", "function": None, "framework": "torch"}


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, 96)
        self.gru = nn.GRU(96, 96, batch_first=True)
        self.out = nn.Linear(96, 1)

    def forward(self, tokens):
        return self.out(self.gru(self.embed(tokens))[0].mean(dim=1)).squeeze(-1)


def lengths_of(rank, balanced):
    """Texts sorted by length and cut in two halves, or dealt out in turn."""
    lengths = torch.linspace(10, 120, 120).long()
    return lengths[rank::2] if balanced else lengths[rank * 60 : rank * 60 + 60]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def train(rank, port, fixed):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DistributedDataParallel(Reader())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(rank)
    lengths = lengths_of(rank, balanced=fixed)
    order = torch.randperm(60, generator=torch.Generator().manual_seed(4))
    for step in range(80):
        length = int(lengths[order[step % 60]])
        tokens = torch.randint(0, 300, (32, length), generator=generator)
        target = (tokens < 100).float().mean(dim=1)
        loss = nn.functional.mse_loss(model(tokens), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            if step % 20 == 0:
                print(f"step {step}: {loss.item():.5f}")
            tick()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    mp.spawn(train, args=(free_port(), arguments.fixed), nprocs=2)
