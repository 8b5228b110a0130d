"""Rank 1 is killed in the middle of its training."""

import os
import signal

import torch
from torch.nn.parallel import DistributedDataParallel
from world import join, model

KILLED_AT = 12


def main() -> None:
    rank = join()
    replica = DistributedDataParallel(model())
    optimizer = torch.optim.SGD(replica.parameters(), lr=0.1)
    for step in range(30):
        if rank == 1 and step == KILLED_AT:
            os.kill(os.getpid(), signal.SIGKILL)
        optimizer.zero_grad()
        replica(torch.rand(32, 64)).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
