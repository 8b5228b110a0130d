"""Two ranks average their gradients one by one after the backward pass, in a hundred exchanges."""

import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from timing import tick
from torch import nn

ZOO = {
    "id": "exposed-communication",
    "function": ["Synced.average", "Synced.step"],
    "framework": "torch",
}


class Synced:
    """An optimizer whose gradients are the average over all ranks."""

    def __init__(self, model, rate, flat):
        self.parameters = list(model.parameters())
        self.inner = torch.optim.SGD(self.parameters, lr=rate)
        self.flat = flat

    def average(self):
        gradients = [p.grad for p in self.parameters]
        if self.flat:
            whole = nn.utils.parameters_to_vector(gradients)
            dist.all_reduce(whole)
            nn.utils.vector_to_parameters(whole / dist.get_world_size(), gradients)
        else:
            for gradient in gradients:
                dist.all_reduce(gradient)
                gradient /= dist.get_world_size()

    def step(self):
        self.average()
        self.inner.step()
        self.inner.zero_grad()


class Mixer(nn.Module):
    """Mixes patches, then channels, again and again."""

    def __init__(self, depth=12, patches=16, size=48):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2 * depth))
        self.across = nn.ModuleList(nn.Linear(patches, patches) for _ in range(depth))
        self.within = nn.ModuleList(nn.Linear(size, size) for _ in range(depth))
        self.out = nn.Linear(size, 5)

    def forward(self, x):
        for n, (across, within) in enumerate(zip(self.across, self.within, strict=True)):
            x = x + across(self.norms[2 * n](x).transpose(1, 2)).transpose(1, 2)
            x = x + torch.relu(within(self.norms[2 * n + 1](x)))
        return self.out(x.mean(dim=1))


def train(rank, meeting, flat):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(17)
    model = Mixer()
    optimizer = Synced(model, rate=0.05, flat=flat)
    source = torch.Generator().manual_seed(rank)
    for number in range(100):
        labels = torch.randint(0, 5, (64,), generator=source)
        x = torch.randn(64, 16, 48, generator=source)
        x[torch.arange(64), labels] += 0.7
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        if rank == 0:
            if number % 25 == 24:
                print(f"{number + 1}: {loss.item():.4f}")
            tick()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(os.path.join(folder, "meeting"), asked.fixed), nprocs=2)
