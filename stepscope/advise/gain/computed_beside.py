"""What JAX computes beside the main thread: no step gets shorter than that.

JAX returns from a call before it has computed. While the script makes its next batch, it still
trains on the last one, so faster batches only help until the computing is all that is left.
"""

import dataclasses
import math
from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.gain.candidate import Candidate
from stepscope.analyze.counters import grown

# Their fixes take work off the main thread and leave what is computed as it is.
_ON_MAIN_THREAD: Final = (
    "checkpoint-stall",
    "gc-pressure",
    "host-code",
    "input-bound",
    "logging-stall",
    "python-hot-loop",
    "repeated-load",
)


def limited(case: Case, candidates: list[Candidate]) -> list[Candidate]:
    """Limits the gains to what the computing beside the main thread leaves."""
    if not any(each.id in _ON_MAIN_THREAD for each in candidates) or framework_of(case) != "jax":
        return candidates
    # Its threads wait for their cores as the main one does.
    beside_ns = computed_beside_ns(case) / case.machine.with_core
    most = max(0.0, case.step_ns - beside_ns)
    return [_limited(each, most) if each.id in _ON_MAIN_THREAD else each for each in candidates]


def _limited(candidate: Candidate, most: float) -> Candidate:
    return dataclasses.replace(candidate, saving=candidate.saving.limited_to(most))


def computed_beside_ns(case: Case) -> float:
    """By step: the CPU time of the process minus that of the main thread (all its time except
    waiting for results or a core), divided by the number of threads that it must have taken."""
    count = max(1, len(case.measured_ns))
    cpu = case.process.cpu
    used = float(grown(cpu.at_ns, cpu.process_ns, case.window).sum()) / count
    main = max(0.0, case.step_ns * (1 - case.machine.without_core) - case.phase_ns("sync"))
    beside = max(0.0, used - main)
    return beside / max(1, math.ceil(beside / case.step_ns))
