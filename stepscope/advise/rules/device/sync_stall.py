"""The host waits for the device in the middle of a step, and the device then waits for the host."""

from typing import Final

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.least import LEAST_SHARE
from stepscope.advise.gain.saving import Saving

ID: Final = "sync-stall"


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    waits = device.waits
    cost = case.by_step(device.lost_by_waits)
    share = case.explain(cost, least=LEAST_SHARE)
    if share is None:
        return []
    names = sorted(set(device.names(waits)))
    return [
        Candidate(
            id=ID,
            title=f"The device idles {percent(share)} of the time after the host waited for it",
            verdict="is lost where the host waits for the device",
            of=case.of_each,
            share=share,
            evidence=[
                f"What is launched after {counted(len(waits) / device.steps, 'wait')} "
                f"{case.per_step} ({', '.join(names[:3])}) comes too late: the device has nothing "
                f"to do for {ms(cost)} of {case.a_step}.",
            ],
            # One wait a step may be needed, and the launches it held up still take their time.
            saving=Saving.half_or_more(cost),
            fix=case.words.waiting_for_device,
        )
    ]
