"""Whether garbage collections are a matter of all steps, or of a few slow ones."""

from typing import Final

import numpy as np

from stepscope.clock import Ints

_LEAST: Final = 0.03  # of the time: less gains nothing that could be measured
_FEW_SLOW_STEPS: Final = 3  # as slow-outlier-steps asks for
_RARE: Final = 0.2  # of the steps: more are not outliers


def collects_throughout(spent_ns: Ints, measured_ns: Ints) -> bool:
    """By measured step: what collections took, and the whole step. Slow are those that a collection
    makes twice as long as the usual one: by themselves, since what else makes steps slow differs
    from run to run."""
    least_ns = _LEAST * measured_ns.sum()
    if not spent_ns.sum() or spent_ns.sum() < least_ns:
        return False
    is_slow = spent_ns > np.median(measured_ns - spent_ns)
    is_by_few = _FEW_SLOW_STEPS <= is_slow.sum() <= _RARE * len(is_slow)
    return not is_by_few or bool(spent_ns[~is_slow].sum() >= least_ns)
