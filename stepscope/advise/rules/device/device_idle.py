"""The device waits: for the host, for launches, for input."""

from typing import Final

from stepscope.advise.evidence.case import Candidate, Saving
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent

ID: Final = "device-idle"
_LEAST_SHARE: Final = 0.15


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    share = device.idle_share - case.explained_share
    if share < _LEAST_SHARE:
        return []
    idle = share * device.wall_ns / device.steps
    return [
        Candidate(
            id=ID,
            title=f"The device is idle {percent(share)} of the time",
            verdict="leaves the device idle",
            share=share,
            evidence=[
                f"In {device.steps} steps the device works {percent(1 - device.idle_share)} of "
                f"the time; {ms(idle)} of each step it waits for the host.",
            ],
            location=None,
            saving=Saving.of(idle, 0.2, 0.95, 0.6),
            fix=case.words.idle_device,
        )
    ]
