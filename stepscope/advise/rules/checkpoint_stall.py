"""Saving the model takes a real share of the steps."""

from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import where
from stepscope.advise.evidence.written_files import of_files
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.stall import stall
from stepscope.analyze.phases.opened_files import is_log

ID: Final = "checkpoint-stall"
# Of the time. One checkpoint per epoch is fine, and takes a larger share of a short run than
# of the long run it stands for.
_LEAST_WHEN_SELDOM: Final = 0.15
_FIX: Final = (
    "Save less often (every few minutes, or at the end of an epoch), or copy the state and "
    "write it in another thread or process while training continues."
)


def judge(case: Case) -> list[Candidate]:
    location, library = where(case, case.stacks.free("checkpoint"))
    if not case.is_framework:
        _, location = of_files(case, lambda path: not is_log(path))
        library = None
    found = stall(
        case, id=ID, cost_by_step=case.phase_by_step("checkpoint"), location=location,
        library=library, doing="saving", fix=_FIX, trial="save-less-often",
        least_share_when_seldom=_LEAST_WHEN_SELDOM,
    )  # fmt: skip
    case.stacks.claim_phase("checkpoint")
    if found and location is not None and not case.is_framework:
        case.stacks.claim_place(location, found[0].share)
    return found
