"""The course of a training: its measured steps in stretches of equal length, with their figures."""

from typing import Final

import numpy as np

from stepscope.analyze.phases.step_phases import phases_by_step
from stepscope.analyze.run import select
from stepscope.analyze.steps.find_steps import find_steps
from stepscope.clock import Ints
from stepscope.model.tracking import Stretch
from stepscope.store.reader import Run

MOST: Final = 50  # enough for a curve


def stretches(run: Run, most: int = MOST) -> list[Stretch]:
    """Of the main process. Steps that are not measured (warm-up, operators) are in none."""
    process = select(run, None, None)
    found = find_steps(run, process)
    if process is None or not len(found):
        return []
    phases = phases_by_step(process, found)
    measured = np.flatnonzero(found.is_measured)
    parts = np.array_split(measured, min(most, len(measured)) or 1)
    return [
        _stretch(steps, found.duration_ns[steps], found.samples[steps], phases.names, phases.ns)
        for steps in parts
        if len(steps)
    ]


def _stretch(
    steps: Ints, duration_ns: Ints, samples: Ints, names: tuple[str, ...], phases_ns: Ints
) -> Stretch:
    total_ns = max(1, int(duration_ns.sum()))
    spent_ns = phases_ns[steps].sum(axis=0)
    return Stretch(
        last_step=int(steps[-1]) + 1,
        mean_ms=float(duration_ns.mean()) / 1e6,
        p90_ms=float(np.percentile(duration_ns, 90)) / 1e6,
        per_s=len(steps) * 1e9 / total_ns,
        samples_per_s=int(samples.sum()) * 1e9 / total_ns if samples.any() else None,
        shares={name: ns / total_ns for name, ns in zip(names, spent_ns.tolist(), strict=True)},
    )
