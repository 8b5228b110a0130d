"""The device is far from busy, and its kernels are short: it could take more at a time."""

from typing import Final

import numpy as np

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.evidence.trial_command import trial_command
from stepscope.advise.evidence.words import counted, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving

ID: Final = "small-batch"
_MOST_BUSY: Final = 0.5  # of the time: a device that works more than it waits is not far from busy
_SHORT_NS: Final = 12_000  # a kernel that is over before the next one can be launched
# Of the idle time, in one stretch of each step: launches, one by one, leave many.
_MOST_AT_ONCE: Final = 0.5
_LEAST_KERNELS: Final = 50  # a step: with fewer, launching them is not what it waits for


def judge(case: DeviceCase) -> list[Candidate]:
    case.require_device(_on_cpu)
    device = case.device
    lasted = device.lasted_ns[device.lasted_ns > 0]
    count = len(lasted) / device.steps
    if device.idle_share < 1 - _MOST_BUSY or count < _LEAST_KERNELS:
        return []
    if float(np.median(lasted)) > _SHORT_NS:
        return []
    idle = device.idle_share * case.step_ns
    if case.by_step(device.gaps.total_ns) > _MOST_AT_ONCE * idle:
        return []
    case.explained_share = max(case.explained_share, device.idle_share)
    return [
        Candidate(
            id=ID,
            title=f"{counted(count, 'short kernel')} {case.per_step} leave the device "
            f"{percent(device.idle_share)} idle",
            verdict="is idle time on the device: its kernels are too short",
            of=case.of_each,
            share=device.idle_share,
            evidence=[
                f"{counted(count, 'kernel')} {case.per_step} on {case.the_device.rstrip(',')}, "
                f"half of them under {float(np.median(lasted)) / 1e3:.1f} µs, which is about what "
                "a launch takes.",
            ],
            # A batch of twice the size halves the idle time per sample, if it fits.
            saving=Saving.part_of(idle, expected=0.5, least=0.1, most=0.9),
            fix=case.words.short_kernels,
        )
    ]


def _on_cpu(case: Case) -> str:
    """Neither is known there: how busy its units are, nor how much more would fit."""
    asks = ": whether larger batches train more samples a second here, "
    if case.is_framework and framework_of(case) == "torch":
        measures = f"{trial_command(case.run, 'larger-batch')} measures"
        return f"{asks}{measures}; it is another training"
    return f"{asks}two runs show (`stepscope compare`); it is another training"
