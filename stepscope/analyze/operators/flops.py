"""Floating-point operations of the heavy operators, from the shapes of their inputs.

As torch counts them: a multiplication and an addition are two. Only the operators themselves, not
those that call them (aten::linear calls aten::addmm).
"""

import functools
import math
from typing import Any, Final

import msgspec

from stepscope.importers.trace import Shapes

_Dims = list[list[int]]
_CONVOLUTIONS: Final = ("aten::conv1d", "aten::conv2d", "aten::conv3d")


@functools.lru_cache(maxsize=100_000)
def flops(name: str, shapes: Shapes) -> int | None:
    """Of one call; None: not known for this operator."""
    count = _COUNTS.get(name)
    if count is None:
        return None
    try:
        dims: _Dims = msgspec.json.decode(shapes.dims, type=list[Any])
        return int(count(dims, shapes.concrete))
    except (msgspec.DecodeError, ValueError, IndexError, TypeError, ZeroDivisionError):
        return None


def _matrices(left: list[int], right: list[int]) -> int:
    """(..., n, k) times (..., k, m)."""
    *batch, rows, inner = left
    if right[-2] != inner:
        raise ValueError("the matrices do not fit")
    return 2 * math.prod(batch) * rows * inner * right[-1]


def _mm(dims: _Dims, _concrete: str) -> int:
    return _matrices(dims[0], dims[1])


def _addmm(dims: _Dims, _concrete: str) -> int:
    return _matrices(dims[1], dims[2])


def _conv(dims: _Dims, concrete: str) -> int:
    """Each output element takes a multiplication and an addition for every weight of its filter."""
    given, weight = dims[0], dims[1]
    values = msgspec.json.decode(concrete, type=list[str])
    strides, padding, dilation = (_numbers(value) for value in values[3:6])
    spatial = len(weight) - 2
    outputs = [
        (size + 2 * _at(padding, i) - _at(dilation, i) * (kernel - 1) - 1) // _at(strides, i) + 1
        for i, (size, kernel) in enumerate(zip(given[-spatial:], weight[2:], strict=True))
    ]
    batch = given[0] if len(given) == len(weight) else 1
    return 2 * batch * math.prod(outputs) * math.prod(weight)


def _numbers(text: str) -> list[int]:
    found = msgspec.json.decode(text, type=list[int] | int)
    return found if isinstance(found, list) else [found]


def _at(values: list[int], index: int) -> int:
    return values[index] if index < len(values) else values[-1]


_COUNTS: Final = {
    "aten::mm": _mm,
    "aten::bmm": _mm,
    "aten::addmm": _addmm,
    "aten::baddbmm": _addmm,
    **dict.fromkeys(_CONVOLUTIONS, _conv),
}
