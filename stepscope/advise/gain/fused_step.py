"""What an optimizer's step takes when one operator updates all parameters.

The three costs are those of `fused=True` on one core: `python -m benchmarks.gain_constants` prints
them. `foreach=True` takes about half as long again, which is within the range.
"""

from typing import Final

from stepscope.advise.gain.saving import Saving

_OVERHEAD_NS: Final = 60_000.0  # regardless of the size
_BY_TENSOR_NS: Final = 6_000.0
_BY_ELEMENT_NS: Final = 3.0  # 28 bytes: parameter, gradient and two moments, read and written
_MOST_LEFT: Final = 0.9  # of the cost: it is one operator instead of dozens, never slower
_ALMOST_ALL: Final = 0.97  # of the cost: the parameters still have to be written


def fused(cost_ns: float, tensors: int, elements: float) -> Saving:
    """What fusing saves in a step that goes through them one by one for `cost_ns`."""
    takes = _OVERHEAD_NS + _BY_TENSOR_NS * tensors + _BY_ELEMENT_NS * elements
    saved = max(0.0, cost_ns - min(takes, _MOST_LEFT * cost_ns))
    # An optimizer's arithmetic (SGD's or Adam's) makes a fused step up to twice as long or short.
    return Saving(expected=saved, least=0.6 * saved, most=min(1.2 * saved, _ALMOST_ALL * cost_ns))
