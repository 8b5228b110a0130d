"""How long the steps of equal runs took: tests/compare/recorded_noise.npz.

Recorded by benchmarks/same_runs.py in November 2026: 300 steps a run of three programs of
benchmarks/programs, on a virtual machine with two cores (AMD EPYC) that other processes kept busy
all the time, with a load of 5 to 20.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from stepscope.clock import Ints

KEPT = Path(__file__).parent.parent / "tests" / "compare" / "recorded_noise.npz"


class Recorded(NamedTuple):
    """One run. Runs of one script and one moment were recorded under the same condition."""

    script: str
    condition: str  # see benchmarks/same_runs.py
    moment: int
    us: Ints


def read(path: Path = KEPT) -> list[Recorded]:
    with np.load(path) as file:
        ends = np.cumsum(file["steps"])
        rows = zip(
            file["script"], file["condition"], file["moment"], np.split(file["us"], ends[:-1]),
            strict=True,
        )  # fmt: skip
        return [
            Recorded(str(script), str(condition), int(moment), us.astype(np.int64))
            for script, condition, moment, us in rows
        ]


def write(runs: list[Recorded], path: Path = KEPT) -> None:
    np.savez_compressed(
        path,
        script=np.array([run.script for run in runs]),
        condition=np.array([run.condition for run in runs]),
        moment=np.array([run.moment for run in runs]),
        steps=np.array([len(run.us) for run in runs]),
        us=np.concatenate([run.us for run in runs]).astype(np.uint32),
    )
