"""What operators of a loop take if each of them does its work for all turns in one call.

1. It is launched once: of what an operator takes in a turn, all that a launch may cost goes away.
   Its arithmetic stays.
2. A product of a row with a matrix of weights reads the matrix once for all rows. What goes over
   the whole matrix, as adding up its gradient does, is done once.
"""

from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.computing import LAUNCH_NS, that_compute, took_and_least_ns
from stepscope.analyze.operators.step_operators import StepOps

_Mask = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]
_PRODUCTS: Final = ("aten::mm", "aten::addmm")
_Shape = tuple[int, ...]


def in_one_call_ns(window: StepOps, operators: _Mask) -> float:
    """By step."""
    computes = that_compute(window, operators)
    took, least = took_and_least_ns(window, computes)
    stays = np.maximum(least, took - LAUNCH_NS) * _part_that_stays(window, computes)
    return float(stays.sum()) / window.steps


def _part_that_stays(window: StepOps, kept: _Mask) -> _Floats:
    """Of each of these: of what is done once and not for each row, its part of that."""
    events = window.part.tree.events[kept]
    shapes = [_shapes(dims) for dims in window.dims()]
    names = window.part.tree.trace.names
    products = [number for number, name in enumerate(names) if name in _PRODUCTS]
    is_product = np.isin(events["name"], products)
    matrices = {
        each
        for number in np.unique(events["shapes"][is_product]).tolist()
        for each in _matrices(shapes[number])
    }
    is_shared = [bool(found) and found[0] in matrices for found in shapes]
    _, kind, count = np.unique(
        np.stack([events["name"], events["shapes"]]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    by_step = np.maximum(1.0, count / window.steps)[kind.reshape(-1)]
    once = ~is_product & np.asarray(is_shared, np.bool_)[events["shapes"]]
    part: _Floats = np.where(once, 1.0 / by_step, 1.0)
    return part


def _matrices(shapes: list[_Shape]) -> set[_Shape]:
    """Of a product with a single row; its transpose is as large."""
    two = [shape for shape in shapes if len(shape) == 2]
    rows = [shape for shape in two if 1 in shape]
    if len(two) != 2 or len(rows) != 1:
        return set()
    (matrix,) = (shape for shape in two if 1 not in shape)
    return {matrix, (matrix[1], matrix[0])}


def _shapes(dims: str) -> list[_Shape]:
    """Of the inputs that are tensors."""
    try:
        found = msgspec.json.decode(dims, type=list[Any])
        lists = [each for each in found if isinstance(each, list)]
        return [tuple(each) for each in lists if all(isinstance(size, int) for size in each)]
    except (msgspec.DecodeError, TypeError):
        return []
