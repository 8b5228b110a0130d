"""Collectives that no compute hides, told by the kernels of a trace."""

import re
from typing import Final

from stepscope.advise.evidence.case import Candidate, Saving
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent
from stepscope.analyze.intervals import union

ID: Final = "exposed-communication"
_LEAST_SHARE: Final = 0.03
_COLLECTIVES: Final = re.compile(
    r"nccl|rccl|all-?reduce|all-?gather|reduce-?scatter|all-?to-?all|collective-permute", re.I
)


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    events = device.events
    collective = device.matching(_COLLECTIVES, events)
    if not collective.any():
        return []
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    sent = device.in_steps(union(start[collective], end[collective])) / device.steps
    compute = device.in_steps(union(start[~collective], end[~collective]))
    exposed = max(0.0, device.busy_ns - compute) / device.steps
    share = exposed / float(device.step_ns.mean())
    if share < _LEAST_SHARE:
        return []
    return [
        Candidate(
            id=ID,
            title=f"{percent(share)} of the step is communication that nothing hides",
            verdict="is communication that nothing hides",
            share=share,
            evidence=[
                f"Collectives run for {ms(sent)} of a step, {ms(exposed)} of that "
                "while no other kernel does.",
            ],
            location=None,
            saving=Saving.of(exposed, 0.3, 1.0, 0.7),
            fix=case.words.exposed_collectives,
        )
    ]
