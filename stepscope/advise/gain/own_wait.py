"""What steps wait for their loader's workers because of what those do, and not of the machine."""

import dataclasses

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.workers import overlap_of


def own_wait_ns(case: Case, workers: int, hand_over_ns: float) -> float:
    """On a busy machine, what the steps would wait on one of their own, in as long a step: workers
    that have no core start and load late, whatever they do. Else all of the step at most."""
    with_core = case.machine.with_core
    overlap = overlap_of(case, hand_over_ns * with_core) if case.machine.busy else None
    if overlap is None:
        return case.step_ns
    alone = dataclasses.replace(
        overlap,
        cores=max(overlap.cores, case.machine.cores),
        start_now_ns=overlap.start_now_ns * with_core,
    )
    at_once = dataclasses.replace(
        alone, load_ns=np.zeros_like(alone.load_ns), load_cpu_ns=0.0, start_now_ns=0.0
    )
    return max(0.0, alone.now_ns(workers) - at_once.now_ns(workers)) / with_core
