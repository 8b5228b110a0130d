"""How much of the operators' own time is computing, and how much is launching them."""

import dataclasses
from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.advise.evidence.arithmetic import by_size_ns
from stepscope.analyze.operators.step_operators import StepOps, middles

_Mask = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]

# They compute nothing themselves: views of a tensor, new memory, and what only calls others.
_VIEWS: Final = (
    "alias", "as_strided", "_assert_async", "broadcast_tensors", "broadcast_to", "chunk", "detach",
    "detach_", "empty", "empty_like", "empty_strided", "expand", "expand_as", "flatten", "imag",
    "_is_all_true", "is_nonzero", "item", "lift_fresh", "linear", "_local_scalar_dense", "matmul",
    "movedim", "narrow", "new_empty", "numpy_T", "permute", "real", "reshape", "_reshape_alias",
    "resize_", "resolve_conj", "resolve_neg", "select", "set_", "slice", "split", "squeeze", "t",
    "to", "_to_copy", "transpose", "unbind", "unflatten", "unsqueeze", "view", "view_as",
    "_unsafe_view", "zeros", "zeros_like",
)  # fmt: skip
_VIEWS_OF_TORCH: Final = tuple(f"aten::{name}" for name in _VIEWS)
# Of arithmetic, half of the shortest launch: an operator with no more shows what launching costs.
_LITTLE_NS: Final = 500.0
_ENOUGH: Final = 5  # of those, for a median
# At most. Alone in a loop, an operator takes 1 µs to launch, and 2 µs with Python and autograd
# (`python -m benchmarks.gain_constants`); cold caches, hooks and other programs make it ten times.
LAUNCH_NS: Final = 15_000.0
# A convolution takes three times as long to launch as an addition (the same command), and recording
# the operators that it calls adds to that.
MOST_LAUNCHES: Final = 4.0
# They call a library and stay calls of their own when a compiler fuses what is around them.
_EXTERNAL: Final = (
    "mm", "addmm", "bmm", "baddbmm", "dot", "mv", "addmv", "convolution", "convolution_backward",
    "embedding", "embedding_dense_backward", "sort", "topk",
)  # fmt: skip
_EXTERNAL_OF_TORCH: Final = tuple(f"aten::{name}" for name in _EXTERNAL)


@dataclasses.dataclass(frozen=True)
class Computing:
    """Of the operators of a step, if launching them cost nothing."""

    ns: float  # their own time beyond that of launching their kind
    least_ns: float  # by the elements and multiplications that they have
    unfused: float  # of those that compute: the share that is left where the rest is fused


def computing(window: StepOps, operators: _Mask) -> Computing:
    """No operator takes longer than it usually does. Recording slows down small ones, but hardly
    those that compute.

    1. The arithmetic of an operator takes so long at least (`arithmetic.py`).
    2. Those that have hardly any show what launching costs, in this run and on this machine.
    3. Some are harder to launch than others, a matrix product than an addition: as much as the
       shortest of that name takes beyond its arithmetic, within bounds.
    """
    computes = that_compute(window, operators)
    took, least = took_and_least_ns(window, computes)
    views = _took_ns(window, operators & window.named_just(*_VIEWS_OF_TORCH))
    launch_ns = _launch_ns(took, least, views)
    beyond = np.maximum(least, took - _by_name(window, computes, took - least, launch_ns))
    return Computing(
        float(beyond.sum()) / window.steps,
        float(least.sum()) / window.steps,
        _unfused(computes & window.named_just(*_EXTERNAL_OF_TORCH), computes),
    )


def that_compute(window: StepOps, operators: _Mask) -> _Mask:
    found: _Mask = operators & window.named("aten::") & ~window.named_just(*_VIEWS_OF_TORCH)
    return found


def took_and_least_ns(window: StepOps, computes: _Mask) -> tuple[_Floats, _Floats]:
    """Of each of these: what it took itself, and what its arithmetic takes of that at least."""
    took = _took_ns(window, computes)
    return took, np.minimum(took, by_size_ns(window, computes))


def beyond_launching_ns(window: StepOps, operators: _Mask) -> float:
    """By step, where nobody knows how many elements operators have: their own time beyond that of
    the usual one, as most are launched and do hardly anything. Views start no kernel at all."""
    views = operators & window.named_just(*_VIEWS_OF_TORCH)
    took = window.usual_ns(operators & ~views)
    launch_ns = min(LAUNCH_NS, float(np.median(took))) if len(took) else LAUNCH_NS
    return float(np.maximum(took - launch_ns, 0.0).sum()) / window.steps


def _launch_ns(took: _Floats, arithmetic: _Floats, views: _Floats) -> float:
    """Of the usual operator. Views only where nothing else shows it, as they make no tensor.
    Without any: no operator takes less than its launch."""
    shows = (arithmetic <= _LITTLE_NS) & (took <= LAUNCH_NS)
    for seen in ((took - arithmetic)[shows], views):
        if len(seen) >= _ENOUGH:
            return min(LAUNCH_NS, float(np.median(seen)))
    return min(LAUNCH_NS, float(took.min())) if len(took) else LAUNCH_NS


def _by_name(window: StepOps, computes: _Mask, beyond: _Floats, launch_ns: float) -> _Floats:
    """What it takes to launch each of these: what the usual one of its name takes beyond its
    arithmetic, on the shapes where that is least."""
    events = window.part.tree.events[computes]
    _, names = np.unique(events["name"], return_inverse=True)
    _, kinds = np.unique(events[["name", "shapes"]], return_inverse=True)
    shortest = np.full(int(names.max(initial=-1)) + 1, np.inf)
    np.minimum.at(shortest, names, middles(beyond, kinds))
    most = min(LAUNCH_NS, MOST_LAUNCHES * launch_ns)
    launches: _Floats = np.clip(shortest, launch_ns, most)[names]
    return launches


def _unfused(external: _Mask, computes: _Mask) -> float:
    """What lies between two calls of a library becomes one operator."""
    return min(1.0, 2 * int(external.sum()) / max(1, int(computes.sum())))


def _took_ns(window: StepOps, kept: _Mask) -> _Floats:
    """As recorded: without the window's slow-down, which is that of small operators."""
    return window.usual_ns(kept) * max(1.0, window.slowdown)
