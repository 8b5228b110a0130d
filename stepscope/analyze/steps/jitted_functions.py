"""What must be known about JAX's jitted functions besides their numbers.

A function is known to train only after its first calls: those have its name but no number. Others
never get one: called now and then while there are steps, they are evaluation.
"""

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.store.events import Spans

_Mask = npt.NDArray[np.bool_]


def with_first_calls(calls: Spans) -> tuple[Ints, _Mask]:
    """The number of each call's function and whether it updates, as it turned out later."""
    is_known = calls.number > 0
    names, first = np.unique(calls.name[is_known], return_index=True)
    early = ~is_known & np.isin(calls.name, names)
    which = np.flatnonzero(is_known)[first[np.searchsorted(names, calls.name[early])]]
    number, updates = calls.number.copy(), calls.updates.copy()
    number[early] = number[which]
    updates[early] |= updates[which]
    return number, updates


def may_evaluate(
    compute: _Mask, name: npt.NDArray[np.int64], number: npt.NDArray[np.int64]
) -> _Mask:
    """Calls of compiled functions that never turned out to train."""
    trains = np.isin(name, name[compute & (number > 0)])
    kept: _Mask = compute & ~trains
    return kept
