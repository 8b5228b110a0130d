"""Heavy operators run in double precision."""

import time
from typing import Any, Final

import msgspec
import numpy as np

from stepscope.advise.evidence.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.evidence.framework import words_for
from stepscope.advise.evidence.words import at, ms, percent
from stepscope.analyze.operators.step_operators import StepOps

ID: Final = "float64-compute"
_PASSES: Final = ("forward", "backward", "optimizer", "compute")
_LEAST_SHARE: Final = 0.1  # of the operators' time
# oneDNN has no convolutions in double precision: torch unfolds and multiplies. Those of 1, 2
# and 3 dimensions take 2.3 to 5.4 times as long, where matrix products take 1.9 times.
_CONVOLUTIONS: Final = 1.7
_SIZE: Final = 384  # of the matrices of the trial
_ROUNDS: Final = 10
_LEAST, _MOST = 1.6, 3.0  # what is beyond comes from other processes
_DOUBLES: Final = ("double", "float64", "DOUBLE", "c10::complex<double>")


def judge(case: Case) -> list[Candidate]:
    if not case.is_framework:
        raise CannotJudge("without a framework the types of the numbers are not recorded")
    window = case.operators
    operators = window.is_op
    doubles = operators & _is_double(window)
    whole, mine = window.by_step_ns(operators), window.by_step_ns(doubles)
    if not whole or mine < _LEAST_SHARE * whole:
        return []
    passes = sum(case.phase_ns(name) for name in _PASSES)
    cost = min(mine, passes)
    ratio = _ratio()
    convolutions = window.by_step_ns(doubles & window.named("conv", "Conv")) / mine
    saved = cost * (1 - convolutions / (ratio * _CONVOLUTIONS) - (1 - convolutions) / ratio)
    location = window.place(doubles)
    share = cost / case.step_ns
    return [
        Candidate(
            id=ID,
            title=f"{percent(mine / whole)} of the operators' time is double precision",
            verdict=f"computes in 64 bits{at(location)}",
            share=share,
            evidence=[
                f"{percent(mine / whole)} of the operators' time, {ms(cost)} of a step, has inputs "
                "of 64 bits.",
                f"A matrix product on this machine takes {ratio:.1f} times as long in 64 bits as "
                "in 32 (measured just now).",
            ],
            location=location,
            saving=Saving(saved, 0.6 * saved, max(saved, min(cost * 0.75, 1.3 * saved))),
            fix=words_for(case).float32.fix,
            trial=words_for(case).float32.trial,
            source=case.text(location),
        )
    ]


def _is_double(window: StepOps) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    inputs = zip(window.types(), window.dims(), strict=True)
    wanted = [number for number, each in enumerate(inputs) if has_doubles(*each)]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(
        window.part.tree.events["shapes"], wanted
    )
    return found


def has_doubles(types: str, dims: str) -> bool:
    """Whether a tensor among the inputs is double. A Python number (`tensor * 0.9`) is handed over
    as one without dimensions, and changes nothing: the result is of the tensor's type."""
    try:
        told = msgspec.json.decode(types, type=list[str])
        sizes = msgspec.json.decode(dims, type=list[Any])
    except msgspec.DecodeError:
        return any(double in types for double in _DOUBLES)
    return any(kind in _DOUBLES and size for kind, size in zip(told, sizes, strict=False))


def _ratio() -> float:
    """How much longer a matrix product takes in 64 bits, here and now: some ten ms. In turns, as
    other processes may be busy; vectors hold half as many of them, so that it is about twice."""
    best: dict[type, float] = {}
    for _ in range(_ROUNDS):
        for kind in (np.float32, np.float64):
            matrix = np.full((_SIZE, _SIZE), 0.5, kind)
            began = time.perf_counter()
            matrix @ matrix
            best[kind] = min(best.get(kind, np.inf), time.perf_counter() - began)
    return float(np.clip(best[np.float64] / max(best[np.float32], 1e-9), _LEAST, _MOST))
