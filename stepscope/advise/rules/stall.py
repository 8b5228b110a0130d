"""What checkpoint-, logging- and evaluation-stall have in common: a phase that takes its share."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
from stepscope.clock import Ints
from stepscope.model import Location
from stepscope.model.rare import of_steps

# Of the steps. Less is once per epoch, which is normal: no epoch has four steps.
_SELDOM: Final = 0.25
_NOTICED: Final = 0.02  # of a mean step: a step with less of it is as good as one without
_ENOUGH: Final = 5  # steps without it, for a mean of what a step takes then


def stall(
    case: Case,
    *,
    id: str,
    cost_by_step: Ints,
    location: Location | None,
    library: str | None,
    doing: str,
    fix: str,
    trial: str,
    least_share_when_seldom: float,
) -> list[Candidate]:
    """`doing`: "saving", "logging", "evaluating"."""
    cost_by_step = np.minimum(cost_by_step, case.measured_ns)
    is_noticed = cost_by_step > _NOTICED * case.step_ns
    cost = float(cost_by_step.mean()) if len(cost_by_step) else 0.0
    if not cost:
        return []
    share = cost / case.step_ns
    if is_noticed.sum() < _SELDOM * len(cost_by_step) and share < least_share_when_seldom:
        return []
    with_it = int((cost_by_step > 0).sum())  # however little it costs each time
    of = of_steps(with_it, len(cost_by_step))
    return [
        Candidate(
            id=id,
            title=f"{doing.capitalize()} in {with_it:,} of {len(cost_by_step):,} steps",
            verdict=f"goes to {doing}{at(location)}",
            of=of,
            share=share,
            evidence=[
                f"{doing.capitalize()} in {with_it:,} of {len(cost_by_step):,} measured steps, "
                f"{ms(cost / float((cost_by_step > 0).mean()))} each time: {ms(cost)} of the "
                f"{ms(case.step_ns)} mean step ({percent(share)}).",
                *([f"Most of it in {library}."] if library else []),
            ],
            location=location,
            saving=Saving.without(
                cost,
                most_ns=_seen_without(case, cost_by_step),
                by_step_ns=cost_by_step,
                is_replaced=False,
            ),
            fix=fix,
            trial=trial,
            library=library,
            source=case.code.text(location),
        )
    ]


def _seen_without(case: Case, cost_by_step: Ints) -> float:
    """How much shorter the steps without it are: those with it may leave caches cold."""
    without = case.measured_ns[cost_by_step == 0]
    return case.step_ns - float(without.mean()) if len(without) >= _ENOUGH else 0.0
