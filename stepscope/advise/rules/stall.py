"""What checkpoint-, logging- and evaluation-stall have in common: a phase that takes its share."""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.clock import Ints
from stepscope.model import Location

# Of the steps. Less is once an epoch, which is what everybody does: no epoch has four steps.
_SELDOM: Final = 0.25
_LEAST_CORE: Final = 0.01  # of the time: the counters of a damaged run may say none at all
_NOTICED: Final = 0.02  # of a mean step: a step with less of it is as good as one without

_GOES_AWAY: Final = 0.95  # what was done in every step is done in one of twenty
_LEAST_GOES_AWAY: Final = 0.8  # or in one of five


def stall(
    case: Case,
    *,
    id: str,
    cost_by_step: Ints,
    location: Location | None,
    library: str | None,
    does: str,
    fix: str,
    least_share_when_seldom: float,
) -> list[Candidate]:
    """`does`: "saves", "logs", "evaluates"."""
    cost_by_step = np.minimum(cost_by_step, case.measured_ns)
    is_noticed = cost_by_step > _NOTICED * case.step_ns
    cost = _own_ns(case, cost_by_step, is_noticed)
    if not cost:
        return []
    share = cost / case.step_ns
    with_it = int(is_noticed.sum())
    if with_it < _SELDOM * len(cost_by_step) and share < least_share_when_seldom:
        return []
    return [
        Candidate(
            id=id,
            title=f"{does.capitalize()} in {with_it} of {len(cost_by_step)} steps",
            verdict=f"{does}{at(location)}",
            share=share,
            evidence=[
                f"It {does} in {with_it} of {len(cost_by_step)} measured steps, "
                f"{ms(cost / float((cost_by_step > 0).mean()))} each time: {ms(cost)} of the "
                f"{ms(case.step_ns)} of a mean step ({percent(share)}).",
                *([f"Most of it in {library}."] if library else []),
            ],
            location=location,
            saving=Saving(
                expected=_GOES_AWAY * cost,
                least=_LEAST_GOES_AWAY * cost,
                most=float(cost_by_step.mean()),
            ),
            fix=fix,
            library=library,
            source=case.code.text(location),
        )
    ]


def _own_ns(case: Case, cost_by_step: Ints, is_noticed: npt.NDArray[np.bool_]) -> float:
    """Of the mean step, what is surely the call's own and not the machine's.

    1. While the thread is ready but has no core it stands still wherever it is, most likely in a
       call that lets go of its core: a print does, as it wakes its reader. So all that was lost in
       the steps with the call may have been lost in it.
    2. The rest of the step was held up as well: the call's own time is weighed against the time
       that the steps had a core.
    """
    if not len(cost_by_step):
        return 0.0
    wall = float(cost_by_step.mean())
    lost = float(case.machine.delay_by_step_ns[is_noticed].sum()) / len(cost_by_step)
    with_core = max(_LEAST_CORE, 1 - case.machine.without_core)
    return min(wall, max(0.0, wall - lost) / with_core)
