"""The rank that the others wait for."""

from typing import Final

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.answers.ranks import processes_of_ranks, ranks
from stepscope.analyze.code.lines import lines
from stepscope.model import Location, Process

ID: Final = "straggler-rank"


def judge(case: Case) -> list[Candidate]:
    there = processes_of_ranks(case.run)
    if len(there) < 2:
        raise CannotJudge("one process, no other ranks")
    slow = ranks(case.run).straggler
    if slow is None:
        return []
    cost = min(slow.cost_ms * 1e6, case.step_ns)
    share = cost / case.step_ns
    process = there.get(slow.rank)
    who = Process(role="rank", rank=slow.rank, pid=process.info.pid if process else None)
    case.stacks.claim_phase("communication")
    return [
        Candidate(
            id=ID,
            title=f"The other ranks wait for rank {slow.rank}",
            verdict=f"is waiting for rank {slow.rank}{at(slow.location)}",
            share=share,
            evidence=[
                f"Rank {slow.rank} holds up every step by {ms(cost)} of {ms(case.step_ns)} "
                f"({percent(share)}).",
                f"{slow.why[:1].upper()}{slow.why[1:]}.",
            ],
            location=slow.location,
            process=who,
            saving=_saving(case, slow.location, cost, len(there)),
            fix="Give every rank the same work: split the data evenly, keep what only one rank "
            "does (logging, evaluation, saving) out of the steps or behind the others' "
            "communication, and check that rank's machine.",
            source=slow.source,
        )
    ]


def _saving(case: Case, location: Location | None, cost: float, ranks: int) -> Saving:
    """Work that all ranks do is only redistributed: each then has its part of it."""
    if location is not None and not _is_done_by_all(case, location, ranks):
        # Only this rank does it: it goes away, or happens behind the others' communication.
        return Saving.without(cost)
    return Saving.without(cost * (ranks - 1) / ranks, most_ns=cost)


def _is_done_by_all(case: Case, location: Location, ranks: int) -> bool:
    them = {
        function.process
        for function in lines(case.run).functions
        if function.file == location.file and function.process.role != "worker"
        for row in function.lines
        if row.line == location.line and row.hits > 1
    }
    return len(them) >= ranks
