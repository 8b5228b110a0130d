"""More compute threads than cores."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.evidence.counters import grown
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.words import ms, percent
from stepscope.store.format import EventKind

ID: Final = "thread-oversubscription"
_TOO_MANY: Final = 2.0  # times the cores
_OWN_CORES: Final = 0.8  # of all cores are busy with this process alone
_LEAST_DELAY: Final = 0.05  # of the time, ready to run but without a core
_LEAST_SWITCHES: Final = 100  # a second, not by choice


def judge(case: Case) -> list[Candidate]:
    threads = _threads(case)
    if not threads:
        raise CannotJudge("the number of threads was not recorded")
    delay = float(grown(case.process, EventKind.MEMORY, "value1", case.window).sum())
    pushed = grown(case.process, EventKind.CPU, "value1", case.window, low_half=True)
    switches = float(pushed.sum())
    lasted_s = float(case.measured_ns.sum()) / 1e9
    used = float(grown(case.process, EventKind.CPU, "end", case.window).sum()) / 1e9
    if threads < _TOO_MANY * case.cores or used < _OWN_CORES * case.cores * lasted_s:
        return []  # few threads, or others than this process's own are in the way
    share = delay / (1e9 * lasted_s)
    if share < _LEAST_DELAY or switches / lasted_s < _LEAST_SWITCHES:
        return []
    cost = share * case.step_ns
    whole = max(1, int(case.cores))  # a container may give one and a half
    return [
        Candidate(
            id=ID,
            title=f"{threads} threads on {case.cores:g} cores",
            verdict=f"is waiting for a core: {threads} threads share {case.cores:g}",
            share=share,
            evidence=[
                f"{threads} threads, those of libraries included, on {case.cores:g} cores, which "
                f"they keep busy for {percent(used / lasted_s / case.cores)} of the time.",
                f"The main thread is ready but has no core {percent(share)} of the time, "
                f"{ms(cost)} of a step; {switches / lasted_s:.0f} times a second a thread is "
                "pushed off its core.",
            ],
            location=None,
            saving=saving_of(share, case.step_ns),
            fix=f"As many threads as cores: {words_for(case).threads.format(count=whole)}"
            f"OMP_NUM_THREADS={whole} (also OPENBLAS_, MKL_), and 1 in each loader worker.",
            trial="thread-count",
        )
    ]


def saving_of(share: float, step_ns: float) -> Saving:
    """Without a core for `share` of the time, the main thread loses that much itself. The threads
    that it meets at each barrier lose as much: in the rest it waits for them between not at all and
    for the same share again."""
    expected, most = 1 - (1 - share) ** 1.5, 1 - (1 - share) ** 2
    return Saving(expected * step_ns, 0.5 * share * step_ns, most * step_ns)


def _threads(case: Case) -> int:
    told = case.process.of_kind(EventKind.COST)
    return int(np.median(told["extra"][-20:])) if len(told) else 0
