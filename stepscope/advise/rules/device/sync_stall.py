"""The host waits for the device in the middle of a step, and the device then waits for the host."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Candidate, Saving
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import counted, ms, percent

ID: Final = "sync-stall"
_LEAST_SHARE: Final = 0.03


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    syncs = device.syncs
    syncs = syncs[(syncs["start_ns"] >= device.start_ns.min()) & (syncs["duration_ns"] > 0)]
    idle = device.idle_after(syncs)
    cost = float(np.minimum(idle, device.step_ns.mean()).sum()) / device.steps
    share = cost / float(device.step_ns.mean())
    if share < _LEAST_SHARE:
        return []
    case.explained_share += share
    names = sorted(set(device.names(syncs)))
    return [
        Candidate(
            id=ID,
            title=f"The device idles {percent(share)} of the step after the host waited for it",
            verdict="is lost where the host waits for the device",
            share=share,
            evidence=[
                f"{counted(len(syncs) / device.steps, 'wait')} a step ({', '.join(names[:3])}); "
                f"after them the device has nothing to do for {ms(cost)} of a step.",
            ],
            location=None,
            saving=Saving.of(cost, 0.4, 1.0, 0.85),
            fix=case.words.waiting_for_device,
        )
    ]
