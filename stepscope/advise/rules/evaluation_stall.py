"""Evaluating takes a real share of the steps."""

from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import where
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.stall import stall

ID: Final = "evaluation-stall"
# Of the time. One evaluation per epoch, over a fifth or a quarter of the samples, stays below.
_LEAST_WHEN_SELDOM: Final = 0.3
FIX: Final = (
    "Evaluate less often, on fewer samples while training, or in larger batches; keep the whole "
    "evaluation for the end of an epoch."
)
TRIAL: Final = "evaluate-less-often"


def judge(case: Case) -> list[Candidate]:
    if not case.is_framework:  # rules for the script's own code come first
        return []
    location, library = where(case, case.stacks.free("evaluation"))
    found = stall(
        case, id=ID, cost_by_step=case.phase_by_step("evaluation"), location=location,
        library=library, doing="evaluating", fix=FIX, trial=TRIAL,
        least_share_when_seldom=_LEAST_WHEN_SELDOM,
    )  # fmt: skip
    case.stacks.claim_phase("evaluation")
    return found
