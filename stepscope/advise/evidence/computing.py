"""How much of the operators' own time is computing, and how much is launching them."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.operators.step_operators import StepOps, elements_of

_Mask = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]

# They compute nothing themselves: views of a tensor, new memory, and what only calls others.
_VIEWS: Final = (
    "alias", "as_strided", "chunk", "detach", "detach_", "empty", "empty_like", "empty_strided",
    "expand", "expand_as", "flatten", "linear", "matmul", "movedim", "narrow", "new_empty",
    "permute", "reshape", "_reshape_alias", "resize_", "select", "set_", "slice", "split",
    "squeeze", "t", "to", "_to_copy", "transpose", "unbind", "unflatten", "unsqueeze", "view",
    "view_as", "_unsafe_view", "zeros", "zeros_like",
)  # fmt: skip
_VIEWS_OF_TORCH: Final = tuple(f"aten::{name}" for name in _VIEWS)
# What small tensors, which stay in the cache, take on one core: an addition 0.1 ns an element, a
# tanh 2.5; a small matrix product 0.01 ns a floating-point operation, a thin one more (`python -m
# benchmarks.gain_constants`). No operator is assumed to compute longer than it took.
_BY_ELEMENT_NS: Final = 0.3
_BY_FLOP_NS: Final = 0.03
# Elements: even a tanh of so many takes less than a launch, so they show what launching costs.
_FEW: Final = 128
_ENOUGH: Final = 5  # of those, for a median
# At most. Alone in a loop, an operator takes 1 µs to launch, and 2 µs with Python and autograd (the
# same command); cold caches, hooks and other programs make it ten times.
LAUNCH_NS: Final = 15_000.0
# They call a library and stay calls of their own when a compiler fuses what is around them.
_EXTERNAL: Final = (
    "mm", "addmm", "bmm", "baddbmm", "dot", "mv", "addmv", "convolution", "convolution_backward",
    "embedding", "embedding_dense_backward", "sort", "topk",
)  # fmt: skip
_EXTERNAL_OF_TORCH: Final = tuple(f"aten::{name}" for name in _EXTERNAL)


@dataclasses.dataclass(frozen=True)
class Computing:
    """Of the operators of a step, if launching them cost nothing."""

    ns: float  # their own time beyond that of operators too small to compute
    least_ns: float  # by the elements and multiplications that they have
    unfused: float  # of those that compute: the share that is left where the rest is fused


def computing(window: StepOps, operators: _Mask) -> Computing:
    """No operator takes longer than it usually does. Recording slows down small ones, but hardly
    those that compute."""
    computes = operators & window.named("aten::") & ~window.named_just(*_VIEWS_OF_TORCH)
    elements = _elements(window, computes)
    took = _took_ns(window, computes)
    flops = window.flops(computes)
    by_size = np.where(flops > 0, flops * _BY_FLOP_NS, elements * _BY_ELEMENT_NS)
    least = np.minimum(took, by_size)
    views = operators & window.named_just(*_VIEWS_OF_TORCH)
    is_small = elements <= _FEW
    launch_ns = _launch_ns(np.append(took[is_small], _took_ns(window, views)), took)
    beyond = np.where(is_small, least, np.maximum(least, took - launch_ns))
    return Computing(
        float(beyond.sum()) / window.steps,
        float(least.sum()) / window.steps,
        _unfused(computes & window.named_just(*_EXTERNAL_OF_TORCH), computes),
    )


def beyond_launching_ns(window: StepOps, operators: _Mask) -> float:
    """By step, where nobody knows how many elements operators have: their own time beyond that of
    the usual one, as most are launched and do hardly anything. Views start no kernel at all."""
    views = operators & window.named_just(*_VIEWS_OF_TORCH)
    took = window.usual_ns(operators & ~views)
    launch_ns = min(LAUNCH_NS, float(np.median(took))) if len(took) else LAUNCH_NS
    return float(np.maximum(took - launch_ns, 0.0).sum()) / window.steps


def _launch_ns(small: _Floats, computing: _Floats) -> float:
    """Without small ones: no operator takes less than its launch."""
    if len(small) >= _ENOUGH:
        return min(LAUNCH_NS, float(np.median(small)))
    return min(LAUNCH_NS, float(computing.min())) if len(computing) else LAUNCH_NS


def _unfused(external: _Mask, computes: _Mask) -> float:
    """What lies between two calls of a library becomes one operator."""
    return min(1.0, 2 * int(external.sum()) / max(1, int(computes.sum())))


def _took_ns(window: StepOps, kept: _Mask) -> _Floats:
    """As recorded: without the window's slow-down, which is that of small operators."""
    return window.usual_ns(kept) * max(1.0, window.slowdown)


def _elements(window: StepOps, kept: _Mask) -> _Floats:
    kinds, which = np.unique(window.part.tree.events["shapes"][kept], return_inverse=True)
    dims = window.dims()
    sizes = np.array([elements_of(dims[kind]) for kind in kinds.tolist()], np.float64)
    return sizes[which] if len(sizes) else np.zeros(0)
