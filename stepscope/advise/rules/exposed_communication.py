"""Collectives that nothing hides."""

from typing import Final

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.words import at, counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.answers.ranks import exchanges_of_ranks, processes_of_ranks, ranks
from stepscope.analyze.ranks.exchanges import Exchanges
from stepscope.model import Location

ID: Final = "exposed-communication"
_SEVERAL: Final = 1.5  # a step


def judge(case: Case) -> list[Candidate]:
    if len(processes_of_ranks(case.run)) < 2:
        raise CannotJudge("one process, no other ranks")
    rows, known = ranks(case.run).ranks, exchanges_of_ranks(case.run)
    exposed_ns = [
        known[row.pid].cost_ns if row.pid in known else 1e6 * (row.communication_ms or 0.0)
        for row in rows
    ]
    if case.process.info.pid not in {row.pid for row in rows}:
        return []
    cost = min(exposed_ns)  # what all ranks spend at least: the rest is waiting for others
    share = cost / case.step_ns
    mine = known.get(case.process.info.pid)
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
        evidence=[
            f"{ms(cost)} of the {ms(case.step_ns)} step are spent in collectives on each "
            f"of {len(rows)} ranks, not counting the wait for slower ranks.",
            *_many(mine),
        ],
        at_once_ns=mine.saved_by_one_ns if mine else 0.0,
        beside_ns=case.phase_ns("backward"),
        fix=words_for(case).exposed_between_ranks,
    )


def _many(mine: Exchanges | None) -> list[str]:
    if mine is None or mine.count < _SEVERAL:
        return []
    return [f"{counted(mine.count, 'exchange')} a step, each of at least {ms(mine.each_ns)}."]


def exposed(
    cost_ns: float,
    share: float,
    *,
    evidence: list[str],
    beside_ns: float,
    at_once_ns: float = 0.0,
    fix: str,
    of: str = "step time",
    location: Location | None = None,
    library: str | None = None,
    source: str | None = None,
) -> list[Candidate]:
    """The finding, whether it comes from recorded ranks or from a trace. `beside_ns`: the compute
    of a step that it could be hidden behind. `at_once_ns`: what goes if all is sent at once."""
    saved = min(cost_ns, at_once_ns)
    saved += min(cost_ns - saved, beside_ns)
    return [
        Candidate(
            id=ID,
            title=f"{percent(share)} of {of} is communication not overlapped with compute",
            verdict=f"is communication not overlapped with compute{at(location)}",
            of=of,
            share=share,
            evidence=evidence,
            # The last bucket has nothing left to hide behind.
            saving=Saving.half_or_more(saved, most_ns=cost_ns),
            fix=fix,
            location=location,
            library=library,
            source=source,
        )
    ]
