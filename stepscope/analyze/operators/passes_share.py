"""Which part of the passes some operators take, as one step of a window and all others say.

1. What operators took themselves is of the window. One of a kind that is there once or twice lost
   its core as often as all of the thread did; of others, the usual one did not.
2. The rest of the passes lies between operators: Python, and what autograd does for each of them.
   It is no more than launching them may cost: the window's step may only have been a lucky one.
"""

import dataclasses
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.operators.step_operators import StepOps

_Mask = npt.NDArray[np.bool_]
_USUAL: Final = 3  # of a kind: of two, the median is the middle of what they took
# With the Python around it: alone in a loop it is 2 µs (`python -m benchmarks.gain_constants`), and
# cold caches, hooks and other programs make it ten times as much.
MOST_BY_OPERATOR_NS: Final = 40_000.0


@dataclasses.dataclass(frozen=True)
class PassesShare:
    """Of the passes of a step."""

    own: float  # what the operators take themselves
    between: float  # their part of what lies between all operators: each takes alike

    @property
    def whole(self) -> float:
        return self.own + self.between


def passes_share(
    window: StepOps,
    kept: _Mask,
    *,
    passes_ns: float,
    with_core: float,
    among: _Mask | None = None,
) -> PassesShare:
    """`passes_ns`: of a step, `with_core`: the part of that in which the thread had one. The
    optimizer's operators are left out, and those that are not `among` these."""
    wanted = window.is_op & ~window.in_optimizer
    if among is not None:
        wanted &= among
    took = window.usual_ns(wanted)
    took *= np.where(_is_rare(window.part.tree.events[wanted]), with_core, 1.0)
    mine, whole = float(took[kept[wanted]].sum()), float(took.sum())
    if not whole:
        return PassesShare(0.0, 0.0)
    left_ns = max(0.0, passes_ns * with_core * window.steps - whole)
    between_ns = min(left_ns, MOST_BY_OPERATOR_NS * len(took))
    part = float(kept[wanted].sum()) / len(took)
    return PassesShare(mine / (whole + between_ns), between_ns * part / (whole + between_ns))


def _is_rare(events: npt.NDArray[Any]) -> _Mask:
    """Of each of these: whether there are too few of its kind to tell what is usual."""
    kinds = np.stack([events["name"].astype(np.int64), events["shapes"].astype(np.int64)])
    _, kind, count = np.unique(kinds, axis=1, return_inverse=True, return_counts=True)
    rare: _Mask = count[kind.reshape(-1)] < _USUAL
    return rare
