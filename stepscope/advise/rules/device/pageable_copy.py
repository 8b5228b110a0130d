"""Copies to the device from pageable memory."""

from typing import Final

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving

ID: Final = "pageable-copy"
# Of the step. The gain is too small for the usual answer, but `--all` shows it: pinning is easy.
_LEAST_SHARE: Final = 0.005


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    copies = device.pageable
    lasted = device.lasted_ns
    copies &= lasted > 0
    cost = case.by_step(lasted[copies])
    share = case.share(cost)
    if share < _LEAST_SHARE:
        return []
    size = case.by_step(device.events["bytes"][copies]) / 2**20
    location = device.place(copies)
    rate = size * 2**20 / max(cost, 1.0)
    return [
        Candidate(
            id=ID,
            title=f"Copies from pageable memory: {_number(case.by_step(copies))} {case.per_step}",
            verdict=f"is copying from pageable memory{at(location)}",
            of=case.of_each,
            share=share,
            evidence=[
                f"{size:.1f} MB {case.per_step} in {ms(cost)} ({percent(share)} of it), "
                f"{rate:.1f} GB/s; from pinned memory a copy is faster and can overlap with "
                "compute.",
            ],
            location=location,
            # From pinned memory it is at least twice as fast, and may all overlap with compute.
            saving=Saving.half_or_more(cost),
            fix=case.words.pageable_copy.fix,
            trial=case.words.pageable_copy.trial,
        )
    ]


def _number(count: float) -> str:
    return f"{count:.0f}" if count >= 10 or count == round(count) else f"{count:.1f}"
