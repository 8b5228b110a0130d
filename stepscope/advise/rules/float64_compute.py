"""Heavy operators run in double precision."""

from typing import Any, Final

import msgspec
import numpy as np

from stepscope.advise.evidence.case import CannotJudge, Case
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.place import PASSES
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.advise.gain.candidate import Candidate
from stepscope.advise.gain.precision import in_32_bits, measured_ratio
from stepscope.analyze.operators.passes_share import passes_share
from stepscope.analyze.operators.step_operators import StepOps
from stepscope.store.reader import Run

ID: Final = "float64-compute"
LEAST_SHARE: Final = 0.1  # of the operators' time: summing a loss in 64 bits is fine
_DOUBLES: Final = ("double", "float64", "DOUBLE", "c10::complex<double>")

_RUNS_MACHINE: Final = "the machine of the run (measured when the script had ended)"
_THIS_MACHINE: Final = "this machine (measured just now)"
DOUBT: Final = "the cost of 64 bits was measured on the machine that shows this, not with the run"


def judge(case: Case) -> list[Candidate]:
    if not case.is_framework:
        raise CannotJudge("without a framework the types of the numbers are not recorded")
    window = case.operators
    operators = window.is_models
    doubles = operators & is_double(window)
    whole, mine = window.by_step_ns(operators), window.by_step_ns(doubles)
    if not whole or mine < LEAST_SHARE * whole:
        return []
    passes = sum(case.phase_ns(name) for name in PASSES)
    # The window has a few steps, and the machine may have been busy in them.
    with_core = case.machine.with_core
    cost = passes * passes_share(window, doubles, passes_ns=passes, with_core=with_core).own
    ratio, is_the_runs = ratio_of(case.run)
    convolutions = window.by_step_ns(doubles & window.named("conv", "Conv")) / mine
    location = window.place(doubles)
    share = cost / case.step_ns
    return [
        Candidate(
            id=ID,
            title=f"{percent(mine / whole)} of the operators' time is double precision",
            verdict=f"goes to computing in 64 bits{at(location)}",
            share=share,
            evidence=[
                f"{percent(mine / whole)} of the operators' time, {ms(cost)} of a step, has inputs "
                "of 64 bits.",
                f"A matrix product takes {ratio:.1f} times as long in 64 bits as in 32 on "
                f"{_RUNS_MACHINE if is_the_runs else _THIS_MACHINE}.",
            ],
            location=location,
            saving=in_32_bits(cost, convolutions=convolutions, ratio=ratio),
            fix=words_for(case).float32.fix,
            trial=words_for(case).float32.trial,
            doubt=None if is_the_runs else DOUBT,
            source=case.code.text(location),
        )
    ]


def ratio_of(run: Run) -> tuple[float, bool]:
    """How much longer 64 bits take, and whether it was measured where the run was recorded: ranks,
    and runs from before it was kept, have no such measurement."""
    kept = run.supervisor.float64_ratio if run.supervisor else None
    return (kept, True) if kept else (measured_ratio(), False)


def is_double(window: StepOps) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    inputs = zip(window.types(), window.dims(), strict=True)
    wanted = [number for number, each in enumerate(inputs) if has_doubles(*each)]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(
        window.part.tree.events["shapes"], wanted
    )
    return found


def has_doubles(types: str, dims: str) -> bool:
    """Whether a tensor among the inputs is double. A Python number (`tensor * 0.9`) is passed
    as one without dimensions and changes nothing: the result has the tensor's type."""
    try:
        kinds = msgspec.json.decode(types, type=list[str])
        sizes = msgspec.json.decode(dims, type=list[Any])
    except msgspec.DecodeError:
        return any(double in types for double in _DOUBLES)
    return any(kind in _DOUBLES and size for kind, size in zip(kinds, sizes, strict=False))
