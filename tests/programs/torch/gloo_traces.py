"""Two ranks on the CPU that send more than they compute: gloo_traces.py FOLDER"""

import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def train(rank, folder, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    layers = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512))
    model = nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    steps = schedule(wait=1, warmup=1, active=6, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=steps) as prof:
        for _ in range(9):
            loss = model(torch.randn(4, 512)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            prof.step()
    prof.export_chrome_trace(f"{folder}/rank-{rank}.json")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, (sys.argv[1], free_port()), nprocs=2)
