"""The device waits: for the host, for launches, for input."""

from typing import Final

from stepscope.advise.evidence.case import Case
from stepscope.advise.evidence.device_case import DeviceCase
from stepscope.advise.evidence.framework import framework_of
from stepscope.advise.evidence.trial_command import trial_command
from stepscope.advise.evidence.words import counted, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.saving import Saving

ID: Final = "device-idle"
_LEAST_SHARE: Final = 0.15  # between kernels and steps there are always gaps
_MOST: Final = 0.5
_COMPILES: Final = {"torch": "compile", "tensorflow": "tf-xla"}  # the fixes of `stepscope try`


def judge(case: DeviceCase) -> list[Candidate]:
    case.require_device(_on_cpu)
    device = case.device
    share = device.idle_share - case.explained_share
    if share < _LEAST_SHARE:
        return []
    idle = share * case.step_ns
    return [
        Candidate(
            id=ID,
            title=f"The device is idle {percent(share)} of the time",
            verdict="is idle time on the device",
            of=case.of_each,
            share=share,
            evidence=[_evidence(case, idle), *_one_gap(case, idle)],
            # The range is this wide because the cause is not known.
            saving=Saving.part_of(idle, expected=0.6, least=0.2, most=0.95),
            fix=case.words.idle_device,
        )
    ]


def _evidence(case: DeviceCase, idle_ns: float) -> str:
    device = case.device
    when = f"In {counted(device.steps, 'step')}" if case.is_by_step else "While it was traced"
    return (
        f"{when}, {case.the_device} works {percent(1 - device.idle_share)} of the time; for "
        f"{ms(idle_ns)} of {case.of_each} it waits for the host."
    )


def _one_gap(case: DeviceCase, idle_ns: float) -> list[str]:
    """Said where most of it is one stretch of each step."""
    gaps = case.device.gaps
    unexplained_ns = case.by_step(gaps.total_ns) - case.explained_share * case.step_ns
    if unexplained_ns < _MOST * idle_ns:
        return []
    at_beginning = gaps.begins_step.mean() > _MOST
    of = "the step" if case.is_by_step else "the trace"
    where = f" at the beginning of {of}" if at_beginning else ""
    frame = gaps.host_is_in
    place = f" ({frame.file}:{frame.line})" if frame is not None and frame.line else ""
    host = f", in which the host is in {frame.function}{place}" if frame is not None else ""
    return [f"Most of that is one stretch of {ms(case.by_step(gaps.total_ns))}{where}{host}."]


def _on_cpu(case: Case) -> str:
    """How much of the step launches operators is known there; what a compiler makes of it is not.
    A function of JAX is compiled already."""
    fix = _COMPILES.get(framework_of(case)) if case.is_framework else None
    if fix is None:
        return ""
    return f": whether a compiled step is faster here, {trial_command(case.run, fix)} measures"
