"""How far an estimate may be off, in standard errors, if few values measured the standard error."""

import functools
import math
from typing import Final

import numpy as np

_AS_GOOD_AS_NORMAL: Final = 1_000.0  # degrees of freedom
_GRID: Final = 20_001  # points of the integral: four digits are right, also for one degree


@functools.lru_cache(maxsize=256)
def two_sided(level: float, degrees: float) -> float:
    """The quantile of Student's t between which and its negative lies `level` of it.

    With t = √ν·tan(angle), its density is cos(angle)^(ν-1): a smooth integral over a quarter turn.
    """
    bounded = min(max(degrees, 1.0), _AS_GOOD_AS_NORMAL)
    angle = np.linspace(0, math.pi / 2, _GRID)
    density = np.cos(angle) ** (bounded - 1)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return math.sqrt(bounded) * math.tan(float(np.interp(level, below / below[-1], angle)))
