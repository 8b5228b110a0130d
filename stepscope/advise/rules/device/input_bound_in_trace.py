"""The step waits for its batch, from a trace that another tool wrote."""

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.advise.rules.input_bound import ID
from stepscope.analyze.input.waits_in_trace import waits_in_trace
from stepscope.analyze.traces.windows import read_causes


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    part = device.part
    waits = waits_in_trace(part.tree.trace, read_causes(part.window.path))
    cost = case.by_step(device.idle_in(waits.stretches))
    share = case.explain(cost, least=LEAST_SHARE)
    if share is None:
        return []
    return [
        Candidate(
            id=ID,
            title=f"The device waits for the batch {percent(share)} of step time",
            verdict="is spent waiting for the batch",
            of=case.of_each,
            share=share,
            evidence=[
                f"The host takes {ms(float(waits.wait_ns.mean()))} of {case.a_step} to get its "
                f"batch; in {ms(cost)} of that the device has nothing to do.",
            ],
            # The first batch of an epoch is still waited for; too few cores may halve the gain.
            saving=Saving.half_or_more(cost),
            fix=case.words.waiting_for_input.fix,
            trial=case.words.waiting_for_input.trial,
        )
    ]
