"""More compute threads than cores."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.threads import with_a_core
from stepscope.analyze.counters import grown
from stepscope.analyze.input.cores import cores_of_others
from stepscope.analyze.input.side_by_side import SideBySide, threads_side_by_side
from stepscope.store.reader import ProcessData

ID: Final = "thread-oversubscription"
_TOO_MANY: Final = 2.0  # times the cores: one pool for each library that has one
# Times the cores, of those that run or are ready to: on average, as they also wait for each other.
# With a thread a core for half of the time, and two in the other half.
_AT_ONCE: Final = 1.5
_BESIDE_A_POOL: Final = 1.0  # the main thread: with a pool as large as the cores, one too many
_USUAL_IN_A_WORKER: Final = 3  # its own, the one that sends batches, and ours
_OWN_CORES: Final = 0.8  # of the busy ones: with less, other programs may be in the way
# Of the time, ready to run but without a core: the gain from less is within the noise.
_LEAST_DELAY: Final = 0.05
# Involuntary, per second: the kernel switches every 3 to 10 ms between threads that compute.
_LEAST_SWITCHES: Final = 100


def judge(case: Case) -> list[Candidate]:
    if not _threads(case.process):
        raise CannotJudge("the number of threads was not recorded")
    crowd = _crowd(case)
    if not crowd:
        return []
    everybody = crowd if case.process in crowd else [case.process, *crowd]
    threads = threads_side_by_side(case.run, everybody, case.window)
    if threads is None:
        raise CannotJudge("how many threads run at once was not counted in the measured steps")
    cores = case.machine.cores
    if threads.at_once <= max(_AT_ONCE * cores, cores + _BESIDE_A_POOL):
        return []  # most of them sleep
    lasted_s = float(case.measured_ns.sum()) / 1e9
    share = case.machine.without_core * _own_part(case, threads)
    switches = sum(_grown(case, each, "involuntary_switches") for each in crowd) / lasted_s
    if share < _LEAST_DELAY or switches < _LEAST_SWITCHES:
        return []
    return [_candidate(case, crowd, share, switches, threads.at_once)]


def _own_part(case: Case, threads: SideBySide) -> float:
    """Of the time without a core: what other programs computed, each other's threads did not."""
    others = cores_of_others(case.run, case.process, case.window) or 0.0
    return max(0.0, 1 - others / threads.ready) if threads.ready else 0.0


def _crowd(case: Case) -> list[ProcessData]:
    """The processes that have too many threads and use the cores that are busy: this one, or its
    loader workers beside it. Where others use them, those are in the way."""
    if _threads(case.process) >= _TOO_MANY * case.machine.cores and _fill(case, [case.process]):
        return [case.process]
    workers = [each for each in case.run.processes if each.info.parent_pid == case.process.info.pid]
    most = max(map(_threads, workers), default=0) - _USUAL_IN_A_WORKER
    is_crowd = most >= _TOO_MANY * case.machine.cores and _fill(case, [case.process, *workers])
    return workers if is_crowd else []


def _fill(case: Case, processes: list[ProcessData]) -> bool:
    busy = case.machine.cores - (case.machine.idle_cores or 0.0)
    used_ns = sum(_grown(case, each, "process_ns") for each in processes)
    return used_ns >= _OWN_CORES * busy * float(case.measured_ns.sum())


def _candidate(
    case: Case, crowd: list[ProcessData], share: float, switches: float, at_once: float
) -> Candidate:
    cores, cost = case.machine.cores, share * case.step_ns
    threads = sum(map(_threads, crowd))
    used = sum(_grown(case, each, "process_ns") for each in crowd) / float(case.measured_ns.sum())
    in_workers = case.process not in crowd
    return Candidate(
        id=ID,
        title=f"{threads} threads {'in loader workers ' if in_workers else ''}on {cores:g} cores",
        verdict=f"is waiting for a core: {threads} threads share {cores:g}",
        share=share,
        evidence=[
            f"{threads} threads, those of libraries included, on {cores:g} cores, which "
            f"they keep busy for {percent(used / cores)} of the time.",
            f"On average, {at_once:.1f} of them run or are ready to.",
            f"Because of them, the main thread is ready but has no core {percent(share)} of the "
            f"time, {ms(cost)} of a step; {switches:.0f} times a second a thread is pushed off its "
            "core.",
        ],
        location=None,
        saving=with_a_core(share, case.step_ns),
        # A container may give one core and a half.
        fix=_fix(case, max(1, int(cores)), in_workers=in_workers),
        trial="thread-count",
    )


def _fix(case: Case, cores: int, *, in_workers: bool) -> str:
    words = words_for(case).threads
    if in_workers:
        return (
            "Use one thread in each loader worker, as the workers are the threads: "
            f"{words.format(count=1)}in worker_init_fn."
        )
    return (
        f"Use as many threads as cores: {words.format(count=cores)}OMP_NUM_THREADS={cores} (also "
        "OPENBLAS_, MKL_), and 1 in each loader worker."
    )


def _grown(case: Case, process: ProcessData, counter: str) -> float:
    """In the measured steps."""
    cpu = process.cpu
    return float(grown(cpu.at_ns, getattr(cpu, counter), case.window).sum())


def _threads(process: ProcessData) -> int:
    counts = process.costs.threads
    return int(np.median(counts[-20:])) if len(counts) else 0
