"""How long the arithmetic of an operator takes, by how many elements or multiplications it has.

On small tensors, which stay in the cache, on one core; `python -m benchmarks.gain_constants` prints
what they are here. An operator takes that long at least: large tensors and thin matrices take more.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.operators.step_operators import StepOps, elements_of

_Mask = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]

BY_FLOP_NS: Final = 0.01
BY_ELEMENT_NS: Final = 0.15  # an addition, a maximum, a sum
BY_LOGARITHM_NS: Final = 1.0  # and what else needs a series, or a look at another element
BY_TANH_NS: Final = 2.5
BY_RANDOM_NS: Final = 5.0  # and by what is sorted
_SLOWER: Final = {
    BY_LOGARITHM_NS: (
        "cos", "cumprod", "cumsum", "erf", "exp", "expm1", "gather", "gelu", "gelu_backward",
        "index", "index_select", "log", "log1p", "log_softmax", "logsumexp", "native_batch_norm",
        "native_layer_norm", "scatter", "scatter_add", "sin", "softmax", "softplus", "where",
    ),
    BY_TANH_NS: ("pow", "tan", "tanh"),
    BY_RANDOM_NS: (
        "bernoulli", "exponential", "multinomial", "normal", "randn", "sort", "std", "topk",
        "uniform", "var",
    ),
}  # fmt: skip
_ELEMENT_NS: Final = {name: ns for ns, names in _SLOWER.items() for name in names}


def elements(window: StepOps, kept: _Mask) -> _Floats:
    """Of the largest input of each of these."""
    kinds, which = np.unique(window.part.tree.events["shapes"][kept], return_inverse=True)
    dims = window.dims()
    sizes = np.array([elements_of(dims[kind]) for kind in kinds.tolist()], np.float64)
    return sizes[which] if len(sizes) else np.zeros(0)


def by_size_ns(window: StepOps, kept: _Mask) -> _Floats:
    """Of each of these."""
    flops, count = window.flops(kept), elements(window, kept)
    names = window.part.tree.events["name"][kept]
    kinds, which = np.unique(names, return_inverse=True)
    rates = np.array([_rate(window.part.tree.trace.names[kind]) for kind in kinds.tolist()])
    by_element = count * rates[which] if len(rates) else count
    found: _Floats = np.where(flops > 0, flops * BY_FLOP_NS, by_element)
    return found


def _rate(name: str) -> float:
    """`aten::_softmax` and `aten::tanh_` are softmax and tanh."""
    return _ELEMENT_NS.get(name.removeprefix("aten::").strip("_"), BY_ELEMENT_NS)
