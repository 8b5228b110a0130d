"""Many small operators, from a trace of the CPU."""

import numpy as np

from stepscope.advise.evidence.case import CannotJudge
from stepscope.advise.evidence.computing import beyond_launching_ns
from stepscope.advise.evidence.host_case import RECORDED, HostCase
from stepscope.advise.evidence.words import counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import HALF, Saving
from stepscope.advise.rules.eager_overhead import (
    ID,
    LEAST_OPERATORS,
    LEAST_OVERHEAD,
    LEAST_SHARE,
)
from stepscope.analyze.operators.passes_share import MOST_BY_OPERATOR_NS
from stepscope.analyze.operators.step_operators import OPTIMIZER


def judge(case: HostCase) -> list[Candidate]:
    if not case.is_torchs:
        raise CannotJudge("the trace does not tell what one operator of a graph costs to start")
    host, window = case.by_step, case.by_step.operators
    others = host.by_step_ns((host.waits | window.named(OPTIMIZER)) & host.inside)
    fetched = window.inside(host.waits)
    passes = window.is_op & host.inside & ~window.in_optimizer & ~fetched
    operators = passes & (window.part.tree.self_ns > 0)
    count, passes_ns = window.count(operators), case.step_ns - others
    if count < LEAST_OPERATORS or passes_ns < LEAST_SHARE * case.step_ns:
        return []
    compute = min(passes_ns, beyond_launching_ns(window, operators))
    overhead = min(passes_ns - compute, count * MOST_BY_OPERATOR_NS)
    if overhead < LEAST_OVERHEAD * passes_ns:
        return []
    share = overhead / case.step_ns
    own_us = float(np.mean(window.usual_ns(operators))) / 1e3
    return [
        Candidate(
            id=ID,
            title=f"{counted(count, 'small operator')} a step",
            verdict=f"is launching {counted(count, 'small operator')}, and Python",
            share=share,
            evidence=[
                f"{counted(count, 'operator')} a step, {own_us:.1f} µs of their own each; beyond "
                f"what the smallest of them take they compute for {ms(compute)} of the "
                f"{ms(case.step_ns)} step. {percent(share)} of it is launching them and Python.",
            ],
            # A graph with breaks keeps half of its launches.
            saving=Saving(expected=overhead, least=HALF * overhead, most=passes_ns - compute),
            fix=case.words.eager.fix,
            trial=case.words.eager.trial,
            doubt=RECORDED,
        )
    ]
