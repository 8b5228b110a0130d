"""Whether garbage collections are a matter of all steps, or of a few slow ones."""

import functools
from typing import Final

import numpy as np

from stepscope.clock import Ints
from stepscope.store.format import SpanCategory
from stepscope.store.reader import ProcessData

_LEAST: Final = 0.03  # of the time: less gains nothing that could be measured
_RARE: Final = 0.2  # of the steps: more are not outliers
_ALL_OBJECTS: Final = 3  # the generation that has them all
_CALL: Final = "gc.collect("
_MOST: Final = 0.5  # of the collections that look at all objects


def collects_throughout(process: ProcessData, spent_ns: Ints, measured_ns: Ints) -> bool:
    """By measured step: what collections took, and the whole step. Slow are those that a collection
    makes twice as long as the usual one: by themselves, since what else makes steps slow differs
    from run to run. One or two are chance, however long: a machine that stalls does so in
    collections, too. What the script asks for is a matter of all steps, however seldom it does."""
    least_ns = _LEAST * measured_ns.sum()
    if not spent_ns.sum() or spent_ns.sum() < least_ns:
        return False
    is_slow = spent_ns > np.median(measured_ns - spent_ns)
    is_by_few = is_slow.sum() <= _RARE * len(is_slow)
    by_others = bool(spent_ns[~is_slow].sum() >= least_ns)
    return not is_by_few or by_others or _is_asked_for(process)


@functools.lru_cache(maxsize=64)
def _is_asked_for(process: ProcessData) -> bool:
    """Whether the script calls the collector about as often as that looks at all objects."""
    full = process.spans.of(SpanCategory.GC).generation == _ALL_OBJECTS
    return bool(full.any()) and _calls(process) >= _MOST * int(full.sum())


def _calls(process: ProcessData) -> int:
    calls = 0
    for block in process.lines.blocks:
        known = process.names.code_and_file(block.code_id)
        text = (process.source_lines(known[1].source) if known is not None else None) or []
        for index in np.flatnonzero(block.hits).tolist():
            line = block.first_line + index
            if line <= len(text) and _CALL in text[line - 1]:
                calls += int(block.hits[index])
    return calls
