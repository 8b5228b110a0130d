"""Whether the script had to share its cores with other programs: no fault of its own."""

from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.thread_oversubscription import ID as TOO_MANY_THREADS

_LEAST_DELAY: Final = 0.2  # of the time, ready to run but without a core


def busy_machine(case: Case, told: list[Candidate]) -> str | None:
    """Said where the training's own threads are not told to be the reason."""
    if any(each.id == TOO_MANY_THREADS for each in told):
        return None
    if case.without_core < _LEAST_DELAY:
        return None
    return (
        f"the machine was busy: {percent(case.without_core)} of the time the main thread was ready "
        "but had no core"
    )
