"""32-bit matrix work on hardware with fast 16-bit units."""

from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.trial_command import trial_command
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving

ID: Final = "no-mixed-precision"
_LEAST_SHARE: Final = 0.1  # of the step: halved, it gains 5 %
_MOSTLY: Final = 0.7  # of the matrix work: with autocast the loss and norms stay in 32 bits


# What a CPU computes 16 bits with; without them it is slower than in 32.
_UNITS: Final = ("avx512_bf16", "amx_bf16", "bf16")


def judge(case: DeviceCase) -> list[Candidate]:
    case.require_device(_on_cpu)
    device = case.device
    single, matrix = device.single_precision
    lasted = device.lasted_ns
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
            of=case.of_each,
            share=share,
            evidence=[
                f"Matrix products and convolutions in 32 bits take {ms(cost)} of {case.a_step}; "
                f"all others, in TF32, 16 bits or fewer, {ms(whole - cost)}.",
            ],
            location=location,
            # Twice the speed and a little more by half the memory traffic; matrix units alone do
            # four times, but not all of it is large matrices.
            saving=Saving.part_of(cost, expected=0.55, least=0.3, most=0.75),
            fix=case.words.mixed_precision.fix,
            trial=case.words.mixed_precision.trial,
        )
    ]


def _on_cpu(case: Case) -> str:
    """The operators do not tell what 16 bits would gain there: a trial does."""
    if not case.is_framework:
        return ", and no framework that could compute in 16 bits"
    known = case.run.info.machine.cpu_features
    units = [each for each in known or [] if each in _UNITS]
    if known is not None and not units:
        return f", and this CPU has no 16-bit units ({_UNITS[0]} or {_UNITS[1]})"
    has = f"; this CPU has 16-bit units ({', '.join(units)})" if units else ""
    trial = words_for(case).mixed_precision.trial
    how = f"{trial_command(case.run, trial)} measures" if trial else "only a try shows"
    return f"{has}: what they gain here, {how}" if units else f": what 16 bits gain here, {how}"
