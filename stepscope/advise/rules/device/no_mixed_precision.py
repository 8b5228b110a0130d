"""32-bit matrix work on hardware with fast 16-bit units."""

from typing import Final

from stepscope.advise.evidence.case import Candidate, Saving
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import at, ms, percent

ID: Final = "no-mixed-precision"
_LEAST_SHARE: Final = 0.1  # of the step
_MOSTLY: Final = 0.7  # of the matrix work


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    single, matrix = device.single_precision
    lasted = device.events["duration_ns"]
    whole, mine = float(lasted[matrix].sum()), float(lasted[single].sum())
    cost = mine / device.steps
    share = cost / float(device.step_ns.mean())
    if share < _LEAST_SHARE or mine < _MOSTLY * whole:
        return []
    location = device.place(single)
    return [
        Candidate(
            id=ID,
            title=f"{percent(mine / whole)} of the matrix work is in 32 bits",
            verdict=f"is matrix work in 32 bits{at(location)}",
            share=share,
            evidence=[
                f"Matrix products and convolutions in 32 bits take {ms(cost)} of a step; those in "
                f"16 bits {ms((whole - mine) / device.steps)}.",
            ],
            location=location,
            saving=Saving.of(cost, 0.3, 0.75, 0.55),
            fix=case.words.mixed_precision.fix,
            trial=case.words.mixed_precision.trial,
        )
    ]
