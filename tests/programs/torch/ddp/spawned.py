"""Ranks that the script starts itself, which say so in their own environment.

spawned.py fork|spawn MEETING_POINT
"""

import os
import sys

import torch.distributed as dist
import torch.multiprocessing
from train import train
from world import join

RANKS = 2


def work(rank: int, meeting_point: str) -> None:
    os.environ["RANK"], os.environ["WORLD_SIZE"] = str(rank), str(RANKS)
    join(meeting_point)
    train(rank, slow=-1)
    dist.destroy_process_group()


if __name__ == "__main__":
    method, meeting_point = sys.argv[1:]
    torch.multiprocessing.start_processes(work, (meeting_point,), RANKS, start_method=method)
