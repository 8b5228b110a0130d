"""More compute threads than cores."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.threads import with_a_core
from stepscope.analyze.counters import grown

ID: Final = "thread-oversubscription"
_TOO_MANY: Final = 2.0  # times the cores: one pool for each library that has one
_OWN_CORES: Final = 0.8  # of the busy ones: with less, other programs may be in the way
# Of the time, ready to run but without a core: the gain from less is within the noise.
_LEAST_DELAY: Final = 0.05
# Involuntary, per second: the kernel switches every 3 to 10 ms between threads that compute.
_LEAST_SWITCHES: Final = 100


def judge(case: Case) -> list[Candidate]:
    threads = _threads(case)
    if not threads:
        raise CannotJudge("the number of threads was not recorded")
    cores = case.machine.cores
    cpu = case.process.cpu
    switches = float(grown(cpu.at_ns, cpu.involuntary_switches, case.window).sum())
    lasted_s = float(case.measured_ns.sum()) / 1e9
    used = float(grown(cpu.at_ns, cpu.process_ns, case.window).sum()) / 1e9
    busy = cores - (case.machine.idle_cores or 0.0)
    if threads < _TOO_MANY * cores or used < _OWN_CORES * busy * lasted_s:
        return []  # few threads, or other processes are in the way
    share = float(case.machine.delay_by_step_ns.sum()) / (1e9 * lasted_s)
    if share < _LEAST_DELAY or switches / lasted_s < _LEAST_SWITCHES:
        return []
    cost = share * case.step_ns
    whole = max(1, int(cores))  # a container may give one and a half
    return [
        Candidate(
            id=ID,
            title=f"{threads} threads on {cores:g} cores",
            verdict=f"is waiting for a core: {threads} threads share {cores:g}",
            share=share,
            evidence=[
                f"{threads} threads, those of libraries included, on {cores:g} cores, which "
                f"they keep busy for {percent(used / lasted_s / cores)} of the time.",
                f"The main thread is ready but has no core {percent(share)} of the time, "
                f"{ms(cost)} of a step; {switches / lasted_s:.0f} times a second a thread is "
                "pushed off its core.",
            ],
            location=None,
            saving=with_a_core(share, case.step_ns),
            fix=f"Use as many threads as cores: {words_for(case).threads.format(count=whole)}"
            f"OMP_NUM_THREADS={whole} (also OPENBLAS_, MKL_), and 1 in each loader worker.",
            trial="thread-count",
        )
    ]


def _threads(case: Case) -> int:
    counts = case.process.costs.threads
    return int(np.median(counts[-20:])) if len(counts) else 0
