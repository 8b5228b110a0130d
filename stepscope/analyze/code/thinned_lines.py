"""The time of thinned code: samples say how much, the exact counts at the start say which line, and
how often it was reached in that time.

The interpreter gives up the GIL only at jumps back and at calls, so samples of pure Python crowd
at the end of loop bodies. Within one loop body the lines therefore share its samples in
proportion to their exact times (the first 10,000 hits at least); between bodies samples are right.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.store.format import HITS_MASK
from stepscope.store.reader import ProcessData
from stepscope.store.streams import CodeBlock

_ALWAYS_COUNTED: Final = 10_000  # hits of each line: lines_thin_below of the core
Ticks = npt.NDArray[np.float64]


def line_ticks(process: ProcessData, block: CodeBlock) -> npt.NDArray[np.uint64]:
    """Ticks of each line of a code object, counted and sampled."""
    counted = np.minimum(block.entries["ticks"], HITS_MASK)
    total: npt.NDArray[np.uint64] = counted + np.rint(_sampled(process, block)).astype(np.uint64)
    return total


def no_longer_counted(block: CodeBlock) -> npt.NDArray[np.bool_]:
    """Lines whose hits are a lower bound: the others of thinned code are counted to the end."""
    return block.thinned_lines & (block.hits >= _ALWAYS_COUNTED)


def likely_hits(process: ProcessData, block: CodeBlock) -> npt.NDArray[np.int64]:
    """Those that were counted, and where that ended, as many more as fit into the sampled time."""
    if not block.thinned_lines.any():
        return block.hits.astype(np.int64)
    hits = block.hits.astype(np.float64)
    by_hit = _weights(process, block) / np.maximum(hits, 1.0)
    more = _sampled(process, block) / np.maximum(by_hit, 1.0)
    more[~no_longer_counted(block)] = 0.0
    return np.rint(hits + more).astype(np.int64)


def _sampled(process: ProcessData, block: CodeBlock) -> Ticks:
    sampled: Ticks = np.minimum(block.entries["sampled"], HITS_MASK).astype(np.float64)
    if not sampled.any():
        return sampled
    return _spread(sampled, _weights(process, block), _bodies(process, block))


def _weights(process: ProcessData, block: CodeBlock) -> Ticks:
    """Exact time without what counting itself cost."""
    hits = block.hits.astype(np.float64)
    own = hits * process.info.event_cost_ticks
    weights: Ticks = np.maximum(block.entries["ticks"].astype(np.float64) - own, hits)
    return weights


def _bodies(process: ProcessData, block: CodeBlock) -> npt.NDArray[np.int64]:
    """For each line the innermost loop around it, 0 outside all loops."""
    body = np.zeros(len(block.entries), np.int64)
    loops = [loop for loop in process.names.loops.values() if loop.code == block.code_id]
    for loop in sorted(loops, key=lambda each: each.line - each.last_line):  # widest first
        first, last = loop.line - block.first_line, loop.last_line - block.first_line
        body[max(0, first) : last + 1] = loop.id
    return body


def _spread(sampled: Ticks, weights: Ticks, bodies: npt.NDArray[np.int64]) -> Ticks:
    spread = sampled.copy()
    for body in np.unique(bodies):
        inside = bodies == body
        if weights[inside].sum() > 0:
            spread[inside] = sampled[inside].sum() * weights[inside] / weights[inside].sum()
    return spread
