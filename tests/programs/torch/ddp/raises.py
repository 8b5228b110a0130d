"""An error that comes out of a collective, or out of the waiting for it: raises.py [wait]"""

import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
try:
    if sys.argv[1:] == ["wait"]:
        dist.all_gather([torch.zeros(2)], torch.zeros(2), async_op=True).wait("no time")
    else:
        dist.group.WORLD.allreduce("no tensor")
finally:  # otherwise the process may abort when its threads end
    dist.destroy_process_group()
