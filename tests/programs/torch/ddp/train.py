"""Data-parallel training; one rank may be slow in a line of its own.

train.py [slow rank] [file where the ranks meet]
"""

import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from world import join, model

STEPS = 30


def augmented(batch: torch.Tensor, is_slow: bool) -> torch.Tensor:
    if is_slow:
        time.sleep(0.03)  # the slow line
    return batch * 2 - 1


def train(rank: int, slow: int) -> None:
    replica = DistributedDataParallel(model())
    optimizer = torch.optim.SGD(replica.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for step in range(STEPS):
        batch = augmented(torch.rand(32, 64), rank == slow)
        loss = replica(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(step, loss.item().hex())


def main() -> None:
    slow = int(sys.argv[1]) if len(sys.argv) > 1 else -1
    rank = join(*sys.argv[2:3])
    train(rank, slow)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
