"""Lines of which it is known how they spend their time: each of them in one way only."""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

BIG = np.ones((900, 900))


def python(turns: int) -> int:
    total = 0
    for turn in range(turns):
        total += turn * turn % 7  # python
    return total


def train(path: Path) -> None:
    for _ in range(12):
        python(300_000)  # python
        BIG @ BIG  # native
        sorted(range(300_000), key=int.__neg__)  # native
        path.read_bytes()  # in a library, which calls C
        time.sleep(0.1)  # waiting


def compute_with(framework: str) -> None:
    """PyTorch computes in this thread too; XLA only in its own."""
    if framework == "torch":
        import torch

        ones = torch.ones(900, 900)
        for _ in range(12):
            ones @ ones  # native
    if framework == "jax":
        import jax

        array = jax.numpy.ones((1200, 1200))
        for _ in range(12):
            (array @ array).block_until_ready()  # native


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "bytes"
    file.write_bytes(os.urandom(1 << 24))
    train(file)
if len(sys.argv) > 1:
    compute_with(sys.argv[1])
