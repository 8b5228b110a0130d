"""Collectives that nothing hides."""

from typing import Final

from stepscope.advise.evidence.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.stall import where
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.analyze.answers.ranks import processes_of_ranks, ranks

ID: Final = "exposed-communication"
_LEAST_SHARE: Final = 0.05


def judge(case: Case) -> list[Candidate]:
    if len(processes_of_ranks(case.run)) < 2:
        raise CannotJudge("one process, no other ranks")
    told = ranks(case.run)
    mine = [row for row in told.ranks if row.pid == case.process.info.pid]
    exposed_ms = [
        max(0.0, (row.communication_ms or 0.0) - (row.waiting_ms or 0.0)) for row in told.ranks
    ]
    if not mine or not exposed_ms:
        return []
    cost = min(exposed_ms) * 1e6  # what all ranks spend at least: the rest is waiting for others
    share = cost / case.step_ns
    if share < _LEAST_SHARE:
        return []
    location, library = where(case, case.free("communication"))
    case.claim_phase("communication")
    return [
        Candidate(
            id=ID,
            title=f"{percent(share)} of the step is communication that nothing hides",
            verdict=f"is communication that nothing hides{at(location)}",
            share=share,
            evidence=[
                f"{ms(cost)} of the {ms(case.step_ns)} of a step pass in collectives on every one "
                f"of {len(told.ranks)} ranks, the waiting for slower ranks left out.",
            ],
            location=location,
            saving=Saving.of(cost, 0.3, 1.0, 0.7),
            fix=words_for(case).exposed_between_ranks,
            library=library,
            source=case.text(location),
        )
    ]
