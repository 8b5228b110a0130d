"""What checkpoint-, logging- and evaluation-stall have in common: a phase that takes its share."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.analyze.code.sampled_steps import Look
from stepscope.clock import Ints
from stepscope.model import Location

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
    does: str,
    fix: str,
    trial: str,
    least_share_when_seldom: float,
) -> list[Candidate]:
    """`does`: "saves", "logs", "evaluates"."""
    cost_by_step = np.minimum(cost_by_step, case.measured_ns)
    is_noticed = cost_by_step > _NOTICED * case.step_ns
    wall = float(cost_by_step.mean()) if len(cost_by_step) else 0.0
    cost = wall * _own_part(case, location, wall, np.flatnonzero(cost_by_step)) if wall else 0.0
    if not cost:
        return []
    share = cost / case.step_ns
    if is_noticed.sum() < _SELDOM * len(cost_by_step) and share < least_share_when_seldom:
        return []
    with_it = int((cost_by_step > 0).sum())  # however little it costs each time
    return [
        Candidate(
            id=id,
            title=f"{does.capitalize()} in {with_it} of {len(cost_by_step)} steps",
            verdict=f"{does}{at(location)}",
            share=share,
            evidence=[
                f"It {does} in {with_it} of {len(cost_by_step)} measured steps, "
                f"{ms(cost / float((cost_by_step > 0).mean()))} each time: {ms(cost)} of the "
                f"{ms(case.step_ns)} mean step ({percent(share)}).",
                *([f"Most of it in {library}."] if library else []),
            ],
            location=location,
            saving=Saving.without(
                cost,
                most_ns=max(wall, _seen_without(case, cost_by_step)),
                by_step_ns=cost_by_step,
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


def _own_part(case: Case, location: Location | None, wall_ns: float, steps: Ints) -> float:
    """How much of its time is the call's own, not the machine's; `steps`: those with the call.

    While the thread is ready but has no core it stands still wherever it is, most likely in a call
    that gives up its core, as a print does when it wakes its reader. So we look at what the call
    takes undisturbed: if it takes as much in the quietest steps, it is slow itself.
    """
    if location is None or not len(steps) or case.machine.without_core < LEAST_SHARE:
        return 1.0
    is_whole = case.stacks.is_whole_function(location, wall_ns / case.step_ns)

    def is_meant(look: Look) -> bool:
        if is_whole:
            return any(case.code.is_in(frame, location) for frame in look.users)
        return case.code.is_at(look.users, location)

    share = case.time_in(steps).share(is_meant)
    quiet = case.time_in(_quietest(case, steps))
    most = quiet.share(is_meant) + quiet.error(quiet.share(is_meant))  # few looks are left
    return min(1.0, most / share) if share else 1.0


def _quietest(case: Case, measured: Ints) -> Ints:
    """The quarter of these measured steps, by index, that lost least of their time."""
    lost = case.machine.delay_by_step_ns[measured] / np.maximum(1, case.measured_ns[measured])
    return measured[lost <= np.percentile(lost, 25)]
