"""The step waits for its batch, from a trace of the CPU."""

from stepscope.advise.evidence.host_case import HostCase
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.advise.rules.input_bound import ID
from stepscope.analyze.operators.host_steps import HostTime


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
            of="step time" if host.is_by_step else "the traced time",
            share=share,
            evidence=[_evidence(host, cost)],
            location=location,
            # The first batch of an epoch is still waited for; too few cores may halve the gain.
            saving=Saving.half_or_more(cost),
            fix=case.words.waiting_for_input.fix,
            trial=case.words.waiting_for_input.trial,
        )
    ]


def _evidence(host: HostTime, cost_ns: float) -> str:
    if not host.is_by_step:
        return f"{ms(cost_ns)} of the {ms(host.mean_ns)} traced pass in waits for batches."
    return (
        f"{ms(cost_ns)} of the {ms(host.mean_ns)} step pass until the batch is there, in each of "
        f"{host.steps} steps."
    )
