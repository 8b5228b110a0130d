"""The device waits: for the host, for launches, for input."""

from typing import Final

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving

ID: Final = "device-idle"
_LEAST_SHARE: Final = 0.15  # between kernels and steps there are always gaps


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    share = device.idle_share - case.explained_share
    if share < _LEAST_SHARE:
        return []
    idle = share * case.step_ns
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
            # The range is this wide because the cause is not known.
            saving=Saving.part_of(idle, expected=0.6, least=0.2, most=0.95),
            fix=case.words.idle_device,
        )
    ]
