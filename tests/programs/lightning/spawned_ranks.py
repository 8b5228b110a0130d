"""Two spawned ranks in three stages, with our profiler: the first argument is its folder."""

import sys

from lightning.pytorch import Trainer
from lightning.pytorch.demos.boring_classes import BoringModel

from stepscope.lightning import Profiler

if __name__ == "__main__":
    trainer = Trainer(
        fast_dev_run=2,
        strategy="ddp_spawn",
        accelerator="cpu",
        devices=2,
        profiler=Profiler(dirpath=sys.argv[1], filename="perf"),
        logger=False,
    )
    for stage in ("fit", "validate", "test"):
        getattr(trainer, stage)(BoringModel())
