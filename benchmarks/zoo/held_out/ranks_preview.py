"""Of two ranks the first one draws a preview in every step, behind a decorator."""

import argparse
import functools
import os
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from timing import tick
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ZOO = {
    "id": "straggler-rank",
    "function": ["preview", "on_first_rank.<locals>.wrapped", "wrapped"],
    "framework": "torch",
}
SHADES = " .:-=+*#%@"


def on_first_rank(function):
    @functools.wraps(function)
    def wrapped(*args):
        return function(*args) if dist.get_rank() == 0 else None

    return wrapped


@on_first_rank
def preview(pictures, path):
    """The batch as characters: what the model makes of it can be seen in a terminal."""
    shades = (pictures.detach().sigmoid() * 9).round().int().tolist()
    rows = ["".join(SHADES[shade] for shade in row) for row in shades]
    with open(path, "w") as file:
        file.write("\n".join(rows))


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.GRU(20, 64, batch_first=True)
        self.decode = nn.Linear(64, 20)

    def forward(self, pictures):
        return self.decode(self.encode(pictures)[0])


def train(rank, meeting, rarely):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(18)
    model = DistributedDataParallel(Painter())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    source = torch.Generator().manual_seed(rank)
    for number in range(100):
        pictures = torch.randn(48, 20, 20, generator=source).cumsum(dim=2).sin()
        painted = model(pictures[:, :-1])
        loss = nn.functional.mse_loss(painted, pictures[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not rarely or number % 50 == 0:
            preview(painted.flatten(0, 1), "preview.txt")
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
