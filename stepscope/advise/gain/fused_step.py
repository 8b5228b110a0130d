"""What an optimizer's step takes when one operator updates all parameters.

The three costs are those of `fused=True` on one core: `python -m benchmarks.gain_constants` prints
them. `foreach=True` on a CPU only saves Python and launches: it takes two thirds as long as the
loop for small tensors, and longer for large ones, as each of its passes goes over all of them.
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
# Of the cost of the loop, for tensors of a thousand elements: the same command.
TOGETHER: Final = {
    "Adadelta": 0.65, "Adafactor": 0.9, "Adamax": 0.6, "ASGD": 1.4, "NAdam": 0.75, "RAdam": 0.6,
    "RMSprop": 0.65, "Rprop": 0.95,
}  # fmt: skip
_OTHERS_TOGETHER: Final = 0.67
# Of that: tensors of 64 elements and of 2,000, and what the caches have of them.
_LESS, _MORE = 0.8, 1.4
# Elements of a tensor: from 3,000 to 4,000 on, lists take longer than the loop.
_LARGE: Final = 3_000


def fused(cost_ns: float, tensors: int, elements: float, with_core: float) -> Saving:
    """What fusing saves in a step that goes through them one by one for `cost_ns`, of which the
    thread had a core for the part `with_core`."""
    takes = (_OVERHEAD_NS + _BY_TENSOR_NS * tensors + _BY_ELEMENT_NS * elements) / with_core

    def saved(fused_ns: float) -> float:
        return cost_ns - min(fused_ns, _MOST_LEFT * cost_ns)

    return Saving(expected=saved(takes), least=saved(_TIMES * takes), most=saved(takes / _TIMES))


def together(cost_ns: float, tensors: int, elements: float, name: str = "") -> Saving:
    """What lists of tensors save on a CPU in a step that goes through them one by one. `name`: of
    torch's optimizer; of others, what most of torch's save."""
    left = TOGETHER.get(name, _OTHERS_TOGETHER)
    if elements > _LARGE * max(1, tensors):
        left = 1.0
    return Saving.part_of(
        cost_ns,
        expected=max(0.0, 1 - left),
        least=max(0.0, 1 - _MORE * left),
        most=max(0.0, 1 - _LESS * min(1.0, left)),
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
