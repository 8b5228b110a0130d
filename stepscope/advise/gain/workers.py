"""What loader workers would gain: how long they load, and how much of that needs a core.

What moves to them is the dataset and the collating. The sampler stays in the training process, and
so does taking the batches. Where an epoch begins they load nothing ahead, and a loader that is made
for each epoch starts them again.

On a busy machine everything takes longer, here and there: time in which a thread was ready but had
no core counts for neither the loading nor the rest.
"""

import math
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.gain.overlap import Floats, Overlap
from stepscope.analyze.counters import grown
from stepscope.analyze.input.epochs import epochs_of
from stepscope.analyze.input.limits import start_up_ms
from stepscope.analyze.input.loaders import Loader, find_loader, stage_spans, stage_union
from stepscope.analyze.intervals import overlap_ns, step_of
from stepscope.clock import Ints
from stepscope.store.reader import ProcessData

_MOST_WORKERS: Final = 16  # more cost memory, and wait for the disk
# Of a worker, from the start to its first batch, and its end: only for runs without workers, the
# others have their own (`python -m benchmarks.gain_constants`).
START_NS: Final = 30_000_000.0


def overlap_of(case: Case, hand_over_ns: float) -> Overlap | None:
    """None: no loader whose workers are known."""
    loader = find_loader(case.run, case.process, case.steps)
    if loader is None or (loader.workers and not _fetches(loader)):
        return None
    epochs = epochs_of(case.process, case.steps)
    load, load_cpu_ns = _of_workers(loader) if loader.workers else _of_steps(case, loader)
    moved = case.phase_by_step("input") if loader.workers else _fetched(case, loader)
    rest = _without_delay(case, case.measured_ns - moved)
    cpu = case.process.cpu
    used = float(grown(cpu.at_ns, cpu.process_ns, case.window).mean())
    start_ns = _start_ns(loader)
    return Overlap(
        load_ns=np.resize(load, len(rest)),
        rest_ns=rest,
        load_cpu_ns=load_cpu_ns,
        rest_cpu_ns=max(float(rest.mean()), used - (0.0 if loader.workers else load_cpu_ns)),
        # What the training has of a core is known from its own delay, which is taken off already.
        cores=max(1.0, case.machine.usable_cores),
        hand_over_ns=hand_over_ns,
        begins=epochs.begins,
        start_ns=0.0 if epochs.keeps_loader else start_ns,
        start_now_ns=start_ns if _starts_again(case, loader) else 0.0,
    )


def numbers_to_try(overlap: Overlap, now: int) -> range:
    """As many as the cores can run at once: more if a worker mostly waits for something else."""
    waits = float(overlap.load_ns.mean()) / max(1.0, overlap.load_cpu_ns)
    most = min(_MOST_WORKERS, now + math.ceil(overlap.cores * max(1.0, waits)))
    return range(now + 1, max(now + 1, most) + 1)


def _of_steps(case: Case, loader: Loader) -> tuple[Floats, float]:
    """In the training process: what it fetches, and its CPU time. When the main thread has neither
    a core nor waits for one, it waits in there: computing does not."""
    loads = _without_delay(case, _fetched(case, loader))
    counted = case.process.cpu.on(case.steps.thread)
    used = float(grown(counted.at_ns, counted.thread_ns, case.window).mean())
    mean = float(loads.mean())
    if not used:
        return loads, mean
    blocked = max(0.0, case.step_ns * (1 - case.machine.without_core) - used)
    return loads, max(0.0, mean - blocked)


def _fetched(case: Case, loader: Loader) -> Ints:
    """By step: its wait without the sampler, which no worker takes over. Where the stages of the
    loader are not known, all of it."""
    waits = case.phase_by_step("input")
    stage = stage_union([case.process], "fetch", loader.thread)
    if not len(stage[0]):
        return waits
    fetched: Ints = np.minimum(waits, overlap_ns(*case.window, stage))
    return fetched


def _start_ns(loader: Loader) -> float:
    known = start_up_ms(loader)
    return START_NS if known is None else 1e6 * known / loader.workers


def _starts_again(case: Case, loader: Loader) -> bool:
    """Whether its workers do in measured steps: persistent ones do not."""
    starts = stage_spans(case.process, "start workers").start_ns
    return bool(loader.workers and (step_of(starts, *case.window) >= 0).any())


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
