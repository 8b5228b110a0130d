"""What a heavy operator has to do at least, from the shapes of its inputs: operations and bytes.

A multiplication and an addition are two operations. Bytes are each input and output once, which no
kernel can do without. Attention is counted in full, also where a mask leaves half of it out; its
backward as five products, because the first is computed again.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from stepscope.analyze.operators.flops import flops
from stepscope.importers.trace import Shapes

_Dims = list[Any]
_BYTES: Final = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1, "int8": 1}
_PRECISIONS: Final = {
    "double": "fp64", "float": "fp32", "c10::Half": "fp16", "c10::BFloat16": "bf16",
    "c10::Float8_e4m3fn": "fp8", "c10::Float8_e5m2": "fp8", "c10::Float8_e4m3fnuz": "fp8",
    "c10::Float8_e5m2fnuz": "fp8", "signed char": "int8",
}  # fmt: skip
_ATTENTION: Final = ("flash", "efficient", "cudnn", "fused")


class Operations(NamedTuple):
    """Of one call."""

    flops: int
    least_bytes: int
    precision: str


@functools.lru_cache(maxsize=100_000)
def operations(name: str, shapes: Shapes) -> Operations | None:
    """None: not known for this operator, or the trace has no shapes."""
    try:
        dims: _Dims = msgspec.json.decode(shapes.dims, type=list[Any])
        types: list[Any] = msgspec.json.decode(shapes.types, type=list[Any])
        precision = next(_PRECISIONS[each] for each in types if each in _PRECISIONS)
        counted = flops(name, shapes)
        if counted is None:
            counted = _COUNTS[name](dims, shapes.concrete)
        elements = sum(map(_elements, dims)) + _outputs(name, dims, counted)
        return Operations(int(counted), int(elements * _BYTES[precision]), precision)
    except (KeyError, StopIteration, IndexError, TypeError, ValueError, ZeroDivisionError,
            msgspec.DecodeError):  # fmt: skip
        return None


def _elements(dims: Any) -> int:
    """Of a tensor; 0 for anything else."""
    is_tensor = isinstance(dims, list) and dims and all(isinstance(each, int) for each in dims)
    return math.prod(dims) if is_tensor else 0


def _outputs(name: str, dims: _Dims, counted: int) -> int:
    if "attention" in name:
        return sum(map(_elements, dims[1:4] if "backward" in name else dims[:1]))
    if "backward" in name:
        return _elements(dims[1]) + _elements(dims[2])
    if "conv" in name:
        return counted // (2 * _elements(dims[1][1:]))
    inner = dims[1] if name in ("aten::addmm", "aten::baddbmm") else dims[0]
    return counted // (2 * int(inner[-1]))


def _product(dims: _Dims, _concrete: str) -> int:
    return 2 * _elements(dims[0]) * int(dims[1][-1])


def _conv_backward(dims: _Dims, concrete: str) -> int:
    """A product for each gradient that is asked for."""
    wanted = concrete.rpartition('"[')[2].split(",")[:2]
    asked = sum("true" in each.lower() for each in wanted) or 2
    return 2 * asked * _elements(dims[0]) * _elements(dims[2][1:])


def _attention(dims: _Dims, _concrete: str) -> int:
    """(batch, heads, queries, depth), keys and values."""
    query, key, value = dims[:3]
    return 2 * _elements(query[:-1]) * int(key[-2]) * (int(query[-1]) + int(value[-1]))


def _attention_backward(dims: _Dims, concrete: str) -> int:
    return _attention(dims[1:4], concrete) * 5 // 2


_COUNTS: Final[dict[str, Callable[[_Dims, str], int]]] = {
    "aten::_scaled_mm": _product,
    "aten::_int_mm": _product,
    "aten::convolution_backward": _conv_backward,
    **{f"aten::_scaled_dot_product_{each}_attention": _attention for each in _ATTENTION},
    **{
        f"aten::_scaled_dot_product_{each}_attention_backward": _attention_backward
        for each in _ATTENTION
    },
}
