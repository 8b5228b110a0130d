"""Collectives that nothing hides."""

from typing import Final

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.answers.ranks import processes_of_ranks, ranks
from stepscope.model import Location

ID: Final = "exposed-communication"


def judge(case: Case) -> list[Candidate]:
    if len(processes_of_ranks(case.run)) < 2:
        raise CannotJudge("one process, no other ranks")
    answer = ranks(case.run)
    mine = [row for row in answer.ranks if row.pid == case.process.info.pid]
    exposed_ms = [
        max(0.0, (row.communication_ms or 0.0) - (row.waiting_ms or 0.0)) for row in answer.ranks
    ]
    if not mine or not exposed_ms:
        return []
    cost = min(exposed_ms) * 1e6  # what all ranks spend at least: the rest is waiting for others
    share = cost / case.step_ns
    if share < LEAST_SHARE:
        return []
    location, library = where(case, case.stacks.free("communication"))
    case.stacks.claim_phase("communication")
    return exposed(
        cost,
        share,
        location=location,
        library=library,
        source=case.code.text(location),
        evidence=f"{ms(cost)} of the {ms(case.step_ns)} step are spent in collectives on each "
        f"of {len(answer.ranks)} ranks, not counting the wait for slower ranks.",
        beside_ns=case.phase_ns("backward"),
        fix=words_for(case).exposed_between_ranks,
    )


def exposed(
    cost_ns: float,
    share: float,
    *,
    evidence: str,
    beside_ns: float,
    fix: str,
    of: str = "step time",
    location: Location | None = None,
    library: str | None = None,
    source: str | None = None,
) -> list[Candidate]:
    """The finding, whether it comes from recorded ranks or from a trace. `beside_ns`: the compute
    of a step that it could be hidden behind."""
    hidden = min(cost_ns, beside_ns)
    return [
        Candidate(
            id=ID,
            title=f"{percent(share)} of {of} is communication not overlapped with compute",
            verdict=f"is communication not overlapped with compute{at(location)}",
            of=of,
            share=share,
            evidence=[evidence],
            # The last bucket has nothing left to hide behind.
            saving=Saving.half_or_more(hidden, most_ns=cost_ns),
            fix=fix,
            location=location,
            library=library,
            source=source,
        )
    ]
