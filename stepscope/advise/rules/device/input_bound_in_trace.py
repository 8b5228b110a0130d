"""The step waits for its batch, from a trace that another tool wrote."""

import re
from typing import Final

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving
from stepscope.advise.rules.input_bound import ID

_LOADERS: Final = re.compile(r"enumerate\(DataLoader\)|_DataLoaderIter\.__next__|IteratorGetNext")


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    events = device.part.tree.events
    waits = events[device.matching(_LOADERS, events)]
    start, end = device.clipped(waits)
    cost = case.by_step(device.idle_in(start, end))
    share = case.explain(cost, least=LEAST_SHARE)
    if share is None:
        return []
    return [
        Candidate(
            id=ID,
            title=f"The device waits for the batch {percent(share)} of step time",
            verdict="is spent waiting for the batch",
            share=share,
            evidence=[
                f"The host takes {ms(case.by_step(end - start))} of a step "
                f"to get its batch; in {ms(cost)} of that the device has nothing to do.",
            ],
            # The first batch of an epoch is still waited for; too few cores may halve the gain.
            saving=Saving.half_or_more(cost),
            fix=case.words.waiting_for_input.fix,
            trial=case.words.waiting_for_input.trial,
        )
    ]
