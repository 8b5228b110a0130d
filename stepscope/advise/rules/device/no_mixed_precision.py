"""32-bit matrix work on hardware with fast 16-bit units."""

from typing import Final

from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving

ID: Final = "no-mixed-precision"
_LEAST_SHARE: Final = 0.1  # of the step: halved, it gains 5 %
_MOSTLY: Final = 0.7  # of the matrix work: with autocast the loss and norms stay in 32 bits


def judge(case: DeviceCase) -> list[Candidate]:
    device = case.device
    single, matrix = device.single_precision
    lasted = device.events["duration_ns"]
    whole, cost = case.by_step(lasted[matrix]), case.by_step(lasted[single])
    share = case.share(cost)
    if share < _LEAST_SHARE or cost < _MOSTLY * whole:
        return []
    location = device.place(single)
    return [
        Candidate(
            id=ID,
            title=f"{percent(cost / whole)} of the matrix work is in 32 bits",
            verdict=f"is matrix work in 32 bits{at(location)}",
            share=share,
            evidence=[
                f"Matrix products and convolutions in 32 bits take {ms(cost)} of a step; those in "
                f"16 bits {ms(whole - cost)}.",
            ],
            location=location,
            # Twice the speed and a little more by half the memory traffic; matrix units alone do
            # four times, but not all of it is large matrices.
            saving=Saving.part_of(cost, expected=0.55, least=0.3, most=0.75),
            fix="Mixed precision: torch.autocast with a GradScaler (or bfloat16 without), "
            "Trainer(precision='16-mixed'), keras.mixed_precision; at least "
            "torch.set_float32_matmul_precision('high').",
            trial="mixed-precision",
        )
    ]
