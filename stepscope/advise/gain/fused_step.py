"""What an optimizer's step takes when one operator updates all parameters.

The three costs are those of `fused=True` on one core: `python -m benchmarks.gain_constants` prints
them. `foreach=True` on a CPU only saves Python and launches: it takes two thirds as long as the
loop for small tensors, and as long for large ones.
"""

import math
from typing import Final

from stepscope.advise.gain.saving import Saving

_OVERHEAD_NS: Final = 60_000.0  # regardless of the size
_BY_TENSOR_NS: Final = 6_000.0
_BY_ELEMENT_NS: Final = 3.0  # 28 bytes: parameter, gradient and two moments, read and written
_LAUNCH_NS: Final = 1_000.0  # an operator, alone in a loop
_TIMES: Final = 2.0  # up to so much longer or shorter: SGD's arithmetic is not Adam's
_MOST_LEFT: Final = 0.9  # of the cost: it is one operator instead of dozens, never slower
# Of the cost of the loop, for tensors of some thousand elements: 0.55 to 0.85 by the optimizer.
_TOGETHER: Final = 0.67
_LEAST_TOGETHER, _MOST_TOGETHER = 0.55, 0.95
# Elements of a tensor: from here on both take as long as memory does.
_LARGE: Final = 10_000


def fused(cost_ns: float, tensors: int, elements: float, with_core: float) -> Saving:
    """What fusing saves in a step that goes through them one by one for `cost_ns`, of which the
    thread had a core for the part `with_core`."""
    takes = (_OVERHEAD_NS + _BY_TENSOR_NS * tensors + _BY_ELEMENT_NS * elements) / with_core

    def saved(fused_ns: float) -> float:
        return cost_ns - min(fused_ns, _MOST_LEFT * cost_ns)

    return Saving(expected=saved(takes), least=saved(_TIMES * takes), most=saved(takes / _TIMES))


def together(cost_ns: float, tensors: int, elements: float) -> Saving:
    """What lists of tensors save on a CPU in a step that goes through them one by one."""
    if elements > _LARGE * max(1, tensors):
        return Saving.part_of(cost_ns, expected=0.0, least=0.0, most=1 - _TOGETHER)
    return Saving.part_of(
        cost_ns, expected=1 - _TOGETHER, least=1 - _MOST_TOGETHER, most=1 - _LEAST_TOGETHER
    )


def rewritten(cost_ns: float, tensors: int, elements: float) -> Saving:
    """What is saved where the step is the user's own: at least what lists save, and at most what
    one flat tensor of all parameters does, which only has to be put together. The middle of the
    exponents is expected."""
    lists = together(cost_ns, tensors, elements)
    flat = _OVERHEAD_NS + _LAUNCH_NS * tensors + _BY_ELEMENT_NS * elements
    most = max(lists.most or 0.0, cost_ns - flat)
    left = math.sqrt(max(0.0, cost_ns - lists.expected) * (cost_ns - most))
    return Saving(expected=cost_ns - left, least=lists.least, most=most)
