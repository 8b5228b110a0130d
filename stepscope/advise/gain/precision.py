"""What computing in 32 bits instead of 64 takes off, and how that ratio is measured.

It depends on the machine, so `stepscope run` measures it when the script has ended and keeps it in
the run.
"""

import time
from typing import Final

import numpy as np

from stepscope.advise.gain.saving import Saving

# oneDNN has no convolutions in double precision: torch unfolds and multiplies. They lose more than
# matrix products do, 1.5 times as much or a multiple (`python -m benchmarks.gain_constants`): this
# factor is a cautious one.
_CONVOLUTIONS: Final = 1.7
_SIZE: Final = 384  # of the matrices: they fit the caches of a core, in both precisions
_ROUNDS: Final = 10  # the best of this many: some ten ms in all
# Vectors hold half as many doubles, and so does memory: it takes about twice as long. Anything
# measured outside these bounds comes from other processes.
_LEAST, _MOST = 1.6, 3.0


def in_32_bits(cost_ns: float, *, convolutions: float, ratio: float) -> Saving:
    """For operators in 64 bits; `convolutions`: the share of those. Not all operators gain as much
    as matrix products: those bound by memory at most a factor of two, small ones nothing."""
    left = convolutions / (ratio * _CONVOLUTIONS) + (1 - convolutions) / ratio
    saved = cost_ns * (1 - left)
    most = max(saved, min(0.75 * cost_ns, 1.3 * saved))  # four times as fast is the most seen
    return Saving(expected=saved, least=0.6 * saved, most=most)


def measured_ratio() -> float:
    """How much longer a matrix product takes in 64 bits, here and now. Alternates between the two,
    as other processes may be busy."""
    best: dict[type, float] = {}
    for _ in range(_ROUNDS):
        for kind in (np.float32, np.float64):
            matrix = np.full((_SIZE, _SIZE), 0.5, kind)
            began = time.perf_counter()
            matrix @ matrix
            best[kind] = min(best.get(kind, np.inf), time.perf_counter() - began)
    return float(np.clip(best[np.float64] / max(best[np.float32], 1e-9), _LEAST, _MOST))
