"""What must be known of JAX's jitted functions beside their numbers.

A function is known to train only after its first calls: those carry no number, but its name. Others
never get one: called now and then while there are steps, they are evaluation.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.store.format import SpanCategory

_Mask = npt.NDArray[np.bool_]


def with_first_calls(spans: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same SPAN events, with the number and the mark of an update that came later."""
    compute = spans["extra"] == SpanCategory.COMPUTE
    known = compute & (spans["value0"] > 0)
    names, first = np.unique(spans["name"][known], return_index=True)
    early = compute & (spans["value0"] == 0) & np.isin(spans["name"], names)
    if not early.any():
        return spans
    filled = spans.copy()
    which = first[np.searchsorted(names, spans["name"][early])]
    filled["value0"][early] = spans["value0"][known][which]
    filled["value1"][early] |= spans["value1"][known][which] & np.uint64(1)
    return filled


def may_evaluate(
    compute: _Mask, name: npt.NDArray[np.int64], number: npt.NDArray[np.int64]
) -> _Mask:
    """Calls of compiled functions that never turned out to train."""
    trains = np.isin(name, name[compute & (number > 0)])
    kept: _Mask = compute & ~trains
    return kept
