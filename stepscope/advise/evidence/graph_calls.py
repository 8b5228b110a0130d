"""Calls from a graph of TensorFlow back into Python: in the step, or where its data is made."""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.case import CannotJudge, Case

_CALLS: Final = ("PyFunc", "EagerPyFunc", "py_function", "numpy_function")
_MOST: Final = 0.5  # of their time


def python_calls(case: Case) -> npt.NDArray[np.bool_]:
    return case.operators.named(*_CALLS)


def calls_python(case: Case) -> bool:
    """Whether the pipeline does: whether most of these calls are in it."""
    try:
        events, calls = case.operators.part.tree.events, python_calls(case)
    except CannotJudge:
        return False
    whole = float(events["duration_ns"][calls].sum())
    in_pipeline = float(events["duration_ns"][calls & events["is_input"]].sum())
    return whole > 0 and in_pipeline > _MOST * whole
