"""Copies to the device from pageable memory."""

from typing import Final

from stepscope.advise.evidence.case import Candidate, Saving
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import at, counted, ms, percent

ID: Final = "pageable-copy"
_LEAST_SHARE: Final = 0.005


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    copies = device.pageable
    cost = float(device.events["duration_ns"][copies].sum()) / device.steps
    step = float(device.step_ns.mean())
    share = cost / step
    if share < _LEAST_SHARE:
        return []
    size = float(device.events["bytes"][copies].sum()) / device.steps / 2**20
    location = device.place(copies)
    rate = size * 2**20 / max(cost, 1.0)
    return [
        Candidate(
            id=ID,
            title=f"{counted(int(copies.sum()) / device.steps, 'copy')[:-1]} from pageable memory",
            verdict=f"is copying from pageable memory{at(location)}",
            share=share,
            evidence=[
                f"{size:.1f} MB a step in {ms(cost)} ({percent(share)} of the step), "
                f"{rate:.1f} GB/s; from pinned memory a copy is faster and can overlap with "
                "compute.",
            ],
            location=location,
            saving=Saving.of(cost, 0.3, 1.0, 0.7),
            fix=case.words.pageable_copy.fix,
            trial=case.words.pageable_copy.trial,
        )
    ]
