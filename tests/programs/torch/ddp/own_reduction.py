"""Gradients are averaged by hand, with collectives that are waited for later; rank 0 is slow.

With the argument "quick" none is.
"""

import sys
import time

import torch
import torch.distributed as dist
from world import join, model

STEPS = 25


def average_gradients(network: torch.nn.Module) -> None:
    works = [
        dist.all_reduce(parameter.grad, async_op=True)
        for parameter in network.parameters()
        if parameter.grad is not None
    ]
    for work in works:
        work.wait()
    for parameter in network.parameters():
        if parameter.grad is not None:
            parameter.grad /= dist.get_world_size()


def bookkeeping(rank: int) -> None:
    if rank == 0 and "quick" not in sys.argv:
        time.sleep(0.02)  # the slow line


def main() -> None:
    rank = join()
    network = model()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    torch.manual_seed(rank)
    for _ in range(STEPS):
        loss = network(torch.rand(32, 64)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        bookkeeping(rank)
        average_gradients(network)
        optimizer.step()
    dist.barrier()
    if rank == 0:
        print(loss.item().hex())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
