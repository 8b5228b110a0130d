"""Collectives that no compute hides, from the kernels of a trace."""

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.rules.exposed_communication import exposed
from stepscope.analyze.intervals import union


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    events = device.events
    collective = device.collectives
    if not collective.any():
        return []
    start, end = events["start_ns"], events["start_ns"] + events["duration_ns"]
    sent = case.by_step(device.in_steps(union(start[collective], end[collective])))
    compute = device.in_steps(union(start[~collective], end[~collective]))
    cost = case.by_step(max(0.0, device.busy_ns - compute))
    share = case.share(cost)
    if share < LEAST_SHARE:
        return []
    return exposed(
        cost,
        share,
        evidence=[
            f"Collectives run for {ms(sent)} of {case.a_step}, {ms(cost)} of that while no other "
            "kernel does."
        ],
        of=case.of_each,
        beside_ns=case.by_step(compute),
        fix=case.words.exposed_collectives,
    )
