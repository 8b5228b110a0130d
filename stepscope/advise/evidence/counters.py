"""How much the recorded counters grew in stretches of time."""

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints
from stepscope.store.format import EventKind
from stepscope.store.reader import ProcessData


def grown(
    process: ProcessData, kind: EventKind, field: str, window: tuple[Ints, Ints], *,
    low_half: bool = False,
) -> npt.NDArray[np.float64]:  # fmt: skip
    """One entry a stretch; `low_half`: of the field's lower 32 bits."""
    told = process.of_kind(kind)
    if len(told) < 2:
        return np.zeros(len(window[0]))
    told = told[np.argsort(told["start"], kind="stable")]
    values = told[field] & np.uint64(0xFFFFFFFF) if low_half else told[field]
    at_ns = process.clock.ns(told["start"])
    first, last = (np.interp(each, at_ns, values.astype(np.float64)) for each in window)
    more: npt.NDArray[np.float64] = last - first
    return more
