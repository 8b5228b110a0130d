"""Collectives and DDP under torch.compile: the graphs that Dynamo made, and results."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from world import join, model

graphs: list[str] = []


def keep(graph: torch.fx.GraphModule, _inputs: list[torch.Tensor]) -> torch.fx.GraphModule:
    graphs.append(graph.code)
    return graph


def summed(values: torch.Tensor) -> torch.Tensor:
    total = values.sin()
    dist.all_reduce(total, op=dist.ReduceOp.MAX)
    gathered = torch.zeros(2 * len(values))
    dist.all_gather_into_tensor(gathered, total)
    return gathered.cos()


def main() -> None:
    rank = join()
    told = [torch.compile(summed, backend=keep, fullgraph=True)(torch.arange(4.0) * (rank + 1))]
    replica = DistributedDataParallel(model())
    optimizer = torch.optim.SGD(replica.parameters(), lr=0.1)
    forward = torch.compile(replica, backend=keep)
    for step in range(8):
        loss = forward(torch.full((8, 64), float(step + rank))).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told.append(loss)
    if rank == 0:
        print("\n".join([*graphs, *(str(value.tolist()) for value in told)]))
    dist.barrier()  # gloo may abort in a rank that works while another one goes
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
