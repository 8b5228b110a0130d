"""What loader workers would gain: how long they load, and how much of that needs a core.

On a busy machine everything takes longer, here and there: time in which a thread was ready but had
no core counts for neither the loading nor the rest.
"""

import math
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.overlap import Floats, Overlap
from stepscope.analyze.counters import grown
from stepscope.analyze.input.loaders import Loader, find_loader, stage_spans
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData

_MOST_WORKERS: Final = 16  # more cost memory, and wait for the disk


def overlap_of(case: Case, hand_over_ns: float) -> Overlap | None:
    """None: no loader whose workers are known."""
    loader = find_loader(case.run, case.process, case.steps)
    if loader is None or (loader.workers and not _fetches(loader)):
        return None
    load, load_cpu_ns = _of_workers(loader) if loader.workers else _of_steps(case)
    rest = np.asarray(_without_delay(case, case.measured_ns - case.phase_by_step("input")))
    cpu = case.process.cpu
    used = float(grown(cpu.at_ns, cpu.process_ns, case.window).mean())
    rest_cpu_ns = max(float(rest.mean()), used - (0.0 if loader.workers else load_cpu_ns))
    load = np.resize(load, len(rest))
    return Overlap(load, rest, load_cpu_ns, rest_cpu_ns, case.machine.usable_cores, hand_over_ns)


def numbers_to_try(overlap: Overlap, now: int) -> range:
    """As many as the cores can run at once: more if a worker mostly waits for something else."""
    waits = float(overlap.load_ns.mean()) / max(1.0, overlap.load_cpu_ns)
    most = min(_MOST_WORKERS, now + math.ceil(overlap.cores * max(1.0, waits)))
    return range(now + 1, max(now + 1, most) + 1)


def _of_steps(case: Case) -> tuple[Floats, float]:
    """In the training process: its waits, and their CPU time. When the main thread has neither a
    core nor waits for one, it waits in there: computing does not."""
    waits = _without_delay(case, case.phase_by_step("input"))
    counted = case.process.cpu.on(case.steps.thread)
    used = float(grown(counted.at_ns, counted.thread_ns, case.window).mean())
    mean = float(waits.mean())
    if not used:
        return waits, mean
    blocked = max(0.0, case.step_ns * (1 - case.machine.without_core) - used)
    return waits, max(0.0, mean - blocked)


def _of_workers(loader: Loader) -> tuple[Floats, float]:
    """Of each batch, in its worker."""
    lasted, cpu_ns = np.zeros(0), 0.0
    for process, start, end in _fetches(loader):
        window = start[:1], end[-1:]
        whole = max(1.0, float((end - start).sum()))
        memory, cpu = process.memory, process.cpu
        lost = float(grown(memory.at_ns, memory.run_delay_ns, window).sum())
        used = float(grown(cpu.at_ns, cpu.process_ns, window).sum())
        lasted = np.append(lasted, (end - start) * max(0.0, 1 - lost / whole))
        cpu_ns += min(used or whole, whole)
    return lasted, min(cpu_ns / len(lasted), float(lasted.mean()))


def _fetches(loader: Loader) -> list[tuple[ProcessData, Ints, Ints]]:
    spans = [(each, *stage_spans(each, "fetch").interval_ns) for each in loader.processes]
    return [each for each in spans if len(each[1])]


def _without_delay(case: Case, ns: Ints) -> Floats:
    return np.asarray(ns * (1 - case.machine.without_core), np.float64)
