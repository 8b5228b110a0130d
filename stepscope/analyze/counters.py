"""How much a recorded counter grew in stretches of time."""

from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.clock import Ints


def grown(
    at_ns: Ints, values: npt.NDArray[Any], window: tuple[Ints, Ints]
) -> npt.NDArray[np.float64]:
    """One entry per stretch of the window."""
    if len(at_ns) < 2:
        return np.zeros(len(window[0]))
    order = np.argsort(at_ns, kind="stable")
    points = at_ns[order], values[order].astype(np.float64)
    first, last = (np.interp(each, *points) for each in window)
    more: npt.NDArray[np.float64] = last - first
    return more
