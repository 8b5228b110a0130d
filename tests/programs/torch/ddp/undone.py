"""What is watched while a block is recorded, and that nothing of it is left."""

import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import distributed as parallel

import stepscope


def watched() -> dict[str, object]:
    owners = (dist, dist.distributed_c10d, dist.ProcessGroup, dist.Work, parallel)
    owners += (parallel.DistributedDataParallel,)
    named = ((owner, *each) for owner in owners for each in vars(owner).items())
    return {f"{owner}.{name}": value for owner, name, value in named if callable(value)}


before = watched()
with stepscope.Profiler(sys.argv[1]):
    inside = watched()
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    dist.all_reduce(torch.ones(2))
after = watched()
print(sum(inside[name] is not value for name, value in before.items()))
print([name for name, value in before.items() if after[name] is not value])
dist.all_reduce(torch.ones(2))
dist.destroy_process_group()
