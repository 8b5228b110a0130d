"""Heavy operators run in double precision."""

import time
from typing import Final

import numpy as np

from stepscope.advise.case import Candidate, CannotJudge, Case, Saving
from stepscope.advise.words import at, ms, percent
from stepscope.analyze.step_ops import StepOps

ID: Final = "float64-compute"
_PASSES: Final = ("forward", "backward", "optimizer", "compute")
_LEAST_SHARE: Final = 0.1  # of the operators' time
_SIZE: Final = 384  # of the matrices of the trial
_ROUNDS: Final = 5
_DOUBLES: Final = ("double", "float64", "DOUBLE")


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
    saved = cost * (1 - 1 / ratio)
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
            saving=Saving(saved, 0.6 * saved, min(cost * 0.75, 1.3 * saved)),
            fix="Make data and model 32 bits: .float() or dtype=float32 where arrays come from "
            "NumPy (which makes 64 bits by default), model.float(), no set_default_dtype.",
            trial="float32",
            source=case.text(location),
        )
    ]


def _is_double(window: StepOps) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    wanted = [i for i, types in enumerate(window.types()) if any(d in types for d in _DOUBLES)]
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(
        window.part.tree.events["shapes"], wanted
    )
    return found


def _ratio() -> float:
    """How much longer a matrix product takes in 64 bits, here and now: a few ms."""
    best = {}
    for kind in (np.float32, np.float64):
        matrix = np.full((_SIZE, _SIZE), 0.5, kind)
        took = []
        for _ in range(_ROUNDS):
            began = time.perf_counter()
            matrix @ matrix
            took.append(time.perf_counter() - began)
        best[kind] = min(took)
    return float(np.clip(best[np.float64] / max(best[np.float32], 1e-9), 1.2, 4.0))
