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
    syncs = device.syncs
    cost = case.by_step(device.idle_after(syncs))
    share = case.explain(cost, least=LEAST_SHARE)
    if share is None:
        return []
    names = sorted(set(device.names(syncs)))
    return [
        Candidate(
            id=ID,
            title=f"The device idles {percent(share)} of the time after the host waited for it",
            verdict="is lost where the host waits for the device",
            of=case.of_each,
            share=share,
            evidence=[
                f"{counted(len(syncs) / device.steps, 'wait')} {case.per_step} "
                f"({', '.join(names[:3])}); after them the device has nothing to do for {ms(cost)} "
                f"of {case.a_step}.",
            ],
            # One wait a step may be needed, and the launches it held up still take their time.
            saving=Saving.half_or_more(cost),
            fix=case.words.waiting_for_device,
        )
    ]
