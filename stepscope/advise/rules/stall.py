"""What checkpoint-, logging- and evaluation-stall have in common: a phase that takes its share."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.clock import Ints
from stepscope.model import Location

SELDOM: Final = 0.25  # of the steps: once an epoch is what everybody does


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
    cost = float(cost_by_step.mean()) if len(cost_by_step) else 0.0
    if not cost:
        return []
    share = cost / case.step_ns
    with_it = int((cost_by_step > 0.02 * case.step_ns).sum())
    if with_it < SELDOM * len(cost_by_step) and share < least_share_when_seldom:
        return []
    return [
        Candidate(
            id=id,
            title=f"{does.capitalize()} in {with_it} of {len(cost_by_step)} steps",
            verdict=f"{does}{at(location)}",
            share=share,
            evidence=[
                f"It {does} in {with_it} of {len(cost_by_step)} measured steps, "
                f"{ms(float(cost_by_step[cost_by_step > 0].mean()))} each time: {ms(cost)} of the "
                f"{ms(case.step_ns)} of a mean step ({percent(share)}).",
                *([f"Most of it in {library}."] if library else []),
            ],
            location=location,
            saving=Saving.part_of(cost, expected=0.95, least=0.8),
            fix=fix,
            library=library,
            source=case.code.text(location),
        )
    ]
