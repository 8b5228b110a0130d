"""Collectives that no computation hides, from a trace of the CPU (gloo, MPI)."""

import re
from typing import Final

from stepscope.advise.evidence.case import CannotJudge
from stepscope.advise.evidence.host_case import HostCase
from stepscope.advise.evidence.words import ms
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.rules.exposed_communication import exposed
from stepscope.analyze.intervals import union

# What carries a collective out, on a thread of its own; `c10d::` only asks for it.
_COLLECTIVES: Final = re.compile(r"^(gloo|mpi|ucc):")
_ASKS: Final = re.compile(r"^(gloo|mpi|ucc):|c10d::|record_param_comms|DistributedDataParallel")


def judge(case: HostCase) -> list[Candidate]:
    host = case.host
    collective = host.matching(_COLLECTIVES)
    if not collective.any():
        raise CannotJudge("no collectives in this trace")
    events = host.part.tree.events
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    computes = host.operators.is_op & ~host.matching(_ASKS)
    sent = host.covered_ns(union(start[collective], end[collective]))
    compute = host.covered_ns(union(start[computes], end[computes]))
    both = collective | computes
    cost = max(0.0, host.covered_ns(union(start[both], end[both])) - compute)
    share = cost / case.step_ns
    if share < LEAST_SHARE:
        return []
    return exposed(
        cost,
        share,
        evidence=[
            f"Collectives run for {ms(sent)} of a step, {ms(cost)} of that while no operator "
            "computes."
        ],
        beside_ns=compute,
        fix=case.words.exposed_collectives,
    )
