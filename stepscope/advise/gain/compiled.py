"""What a compiler takes off the passes: launching, but for what stays outside of its graphs.

1. Only the operators in the model's own calls get into a graph. The loss, an environment or a
   sampler between two calls stay as they are.
2. A compiled function has a cost of its own at each call, forward and backward: a model that is
   called for every state of an episode, or whose graph breaks at each `.item()`, pays it each time.
3. Library calls (matrix products) stay calls; what lies between two of them becomes one operator.
4. Fewer and larger operators, written by hand, may save all of the launching. The middle of the
   exponents is expected. Where the compiler has many calls to make, so has everybody else.
5. What is called again and again with the same weights, a cell for each moment, is one call of a
   layer of the framework's own: of what a compiler leaves of it, that part stays.
"""

import dataclasses
import math
from typing import Final

from stepscope.advise.gain.saving import MOST_INSTEAD, Saving

# Both passes of a small function, beyond the kernels in it (`python -m benchmarks.gain_constants`).
BY_CALL_NS: Final = 100_000.0
# Of a graph that is called once, by operator: TensorFlow's executor takes 0.6 µs where one follows
# the other (the same command), and 1.7 in a model of Keras, whose branches go to other threads.
BY_NODE_NS: Final = 1_000.0
_FEW_CALLS: Final = 4.0  # a step: a model or two, twice


@dataclasses.dataclass(frozen=True, kw_only=True)
class Launching:
    """Of a step, in which the thread always has a core."""

    ns: float  # launching and Python
    inside: float  # the share of the operators in the model's calls
    unfused: float  # the share of them that stays when the rest is fused
    calls: float  # of the model, and of the pieces that its graph breaks into
    uses: float = 1.0  # how often a step goes through each of its weights


def compiled(launching: Launching, *, step_ns: float, with_core: float, most_ns: float) -> Saving:
    """`most_ns`: if what computes were the least that it may be."""
    fused = launching.ns * launching.inside * (1 - launching.unfused)
    saved = max(0.0, fused - launching.calls * BY_CALL_NS) / with_core
    least = (1 - MOST_INSTEAD) * saved
    if launching.calls > _FEW_CALLS:
        return Saving(expected=saved, least=least, most=max(saved, most_ns))
    rest = max(0.0, step_ns - launching.ns / with_core)
    by_hand = rest + (step_ns - saved - rest) / launching.uses
    left = math.sqrt(by_hand * rest)
    return Saving(expected=step_ns - left, least=least, most=max(step_ns - left, most_ns))


def graph_ns(operators: float) -> float:
    """What the call of a graph takes beyond what its operators compute."""
    return BY_CALL_NS + BY_NODE_NS * operators
