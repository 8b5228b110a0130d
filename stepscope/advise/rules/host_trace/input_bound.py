"""The step waits for its batch, from a trace of the CPU."""

from stepscope.advise.evidence.host_case import HostCase
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.advise.rules.input_bound import ID


def judge(case: HostCase) -> list[Candidate]:
    host = case.host
    cost = host.input_ns
    share = cost / case.step_ns
    if share < LEAST_SHARE:
        return []
    location = host.users_function(host.waits)
    return [
        Candidate(
            id=ID,
            title=f"Waiting for the batch takes {percent(share)} of step time",
            verdict=f"is spent waiting for the batch{at(location)}",
            share=share,
            evidence=[
                f"{ms(cost)} of the {ms(case.step_ns)} step pass until the batch is there, in "
                f"{'each of ' if host.is_by_step else ''}{host.steps} "
                f"{'steps' if host.is_by_step else 'stretch without marked steps'}.",
            ],
            location=location,
            # The first batch of an epoch is still waited for; too few cores may halve the gain.
            saving=Saving.half_or_more(cost),
            fix=case.words.waiting_for_input.fix,
            trial=case.words.waiting_for_input.trial,
        )
    ]
