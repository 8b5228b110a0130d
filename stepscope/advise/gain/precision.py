"""What computing in 32 bits instead of 64 takes off, and how that ratio is measured.

It depends on the machine, so `stepscope run` measures it when the script has ended and keeps it in
the run.
"""

import time
from typing import Any, Final

import numpy as np

from stepscope.advise.gain.saving import Saving

# oneDNN has no convolutions in double precision: torch unfolds and multiplies. They lose more than
# matrix products do, 1.5 times as much or a multiple (`python -m benchmarks.gain_constants`): this
# factor is a cautious one.
_CONVOLUTIONS: Final = 1.7
# Of the matrices: small enough for one thread, whose own time does not count what others take.
# OpenBLAS shares out larger ones, and the thread then spins while it waits for the other cores.
_SIZE: Final = 64
_PRODUCTS: Final = 20  # one takes 0.01 ms
_ROUNDS: Final = 25  # the median of this many: 10 ms in all
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
    """How much longer a matrix product takes in 64 bits, here and now: of pairs that follow each
    other, and in the thread's own time, as other processes may be busy."""
    ratios = []
    for _ in range(_ROUNDS):
        single, double = (_product_ns(kind) for kind in (np.float32, np.float64))
        ratios.append(double / max(single, 1))
    return float(np.clip(np.median(ratios), _LEAST, _MOST))


def _product_ns(kind: type[np.floating[Any]]) -> int:
    matrix = np.full((_SIZE, _SIZE), 0.5, kind)
    began = time.thread_time_ns()
    for _ in range(_PRODUCTS):
        matrix @ matrix
    return time.thread_time_ns() - began
