"""Collectives that no compute hides, told by the kernels of a trace."""

import re
from typing import Final

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving
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
            saving=Saving.part_of(exposed, expected=0.7, least=0.3),
            fix="Larger buckets, or smaller ones that start earlier (bucket_cap_mb), gradients as "
            "bucket views, 16-bit communication hooks, gradient accumulation with no_sync().",
        )
    ]
