"""Saving the model takes a real share of the steps."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.place import beside, where
from stepscope.advise.evidence.written_files import of_files
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.rules.stall import stall
from stepscope.analyze.phases.opened_files import is_log
from stepscope.clock import Ints
from stepscope.model import Location

ID: Final = "checkpoint-stall"
# Of the time. One checkpoint per epoch is fine, and takes a larger share of a short run than
# of the long run it stands for.
_LEAST_WHEN_SELDOM: Final = 0.15
_FIX: Final = (
    "Save less often (every few minutes, or at the end of an epoch), or copy the state and "
    "write it in another thread or process while training continues."
)


def judge(case: Case) -> list[Candidate]:
    cost = case.reported_by_step("checkpoint")
    location, library = where(case, case.stacks.free("checkpoint"))
    if not cost.any():
        cost, location = of_files(case, lambda path: not is_log(path))
        library = None
    elif location is not None:
        cost = cost + _around(case, location, cost)
    found = stall(
        case, id=ID, cost_by_step=cost, location=location, library=library, does="saves", fix=_FIX,
        trial="save-less-often", least_share_when_seldom=_LEAST_WHEN_SELDOM,
    )  # fmt: skip
    case.stacks.claim_phase("checkpoint")
    if found and location is not None and not case.reported_by_step("checkpoint").any():
        case.stacks.claim_place(location, found[0].share)
    return found


def _around(case: Case, location: Location, cost: Ints) -> Ints:
    """By step: what else the saving function does, such as collecting the state."""
    looks = beside(case, location)
    total = case.stacks.sure_share(looks) * case.step_ns * len(cost)
    case.stacks.claimed |= set(looks)
    return np.where(cost > 0, np.int64(total / max(1, int((cost > 0).sum()))), 0)
