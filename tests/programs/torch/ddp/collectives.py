"""Every collective once, and what came of it."""

from typing import Any

import torch
import torch.distributed as dist
from world import join


def each(rank: int) -> list[Any]:
    mine, both = torch.arange(4.0) + rank, [torch.zeros(4), torch.zeros(4)]
    told: list[Any] = []
    dist.all_reduce(mine)
    dist.broadcast(mine, src=1)
    dist.all_gather(both, mine)
    gathered, part = torch.zeros(8), torch.zeros(4)
    dist.all_gather_into_tensor(gathered, mine)
    dist.reduce_scatter_tensor(part, gathered)
    dist.reduce_scatter(part, [mine, mine + 1])
    exchanged = torch.zeros(4)
    dist.all_to_all_single(exchanged, mine)
    dist.reduce(mine, dst=0)
    dist.gather(part, both if rank == 0 else None, dst=0)
    dist.scatter(part, both if rank == 0 else None, src=0)
    told += [both, gathered, part, exchanged]
    if rank == 0:
        dist.send(mine, dst=1)
    else:
        dist.recv(part, src=0)
    objects: list[Any] = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    dist.barrier()
    half = dist.new_group([0, 1])
    later = dist.all_reduce(part, group=half, async_op=True)
    later.wait()
    told += [objects, part, later.is_completed()]
    return told


def main() -> None:
    rank = join()
    told = each(rank)
    if rank == 0:
        print(told)
    try:
        dist.all_reduce("no tensor")
    except TypeError as error:
        if rank == 0:
            print(error)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
