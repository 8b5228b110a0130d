"""The step waits for its batch, told by a trace that another tool wrote."""

import re
from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Candidate, Saving
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent

ID: Final = "input-bound"
_LEAST_SHARE: Final = 0.05
_LOADERS: Final = re.compile(r"enumerate\(DataLoader\)|_DataLoaderIter\.__next__|IteratorGetNext")


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    events = device.part.tree.events
    waits = events[device.matching(_LOADERS, events)]
    start, end = device.clipped(waits)
    cost = float(np.sum(device.idle_in(start, end))) / device.steps
    share = cost / float(device.step_ns.mean())
    if share < _LEAST_SHARE:
        return []
    case.explained_share += share
    return [
        Candidate(
            id=ID,
            title=f"The device waits {percent(share)} of the step for the batch",
            verdict="waits for its batch",
            share=share,
            evidence=[
                f"The host takes {ms(float((end - start).sum()) / device.steps)} of a step "
                f"to get its batch; in {ms(cost)} of that the device has nothing to do.",
            ],
            location=None,
            saving=Saving.of(cost, 0.5, 1.0, 0.9),
            fix=case.words.waiting_for_input.fix,
            trial=case.words.waiting_for_input.trial,
        )
    ]
