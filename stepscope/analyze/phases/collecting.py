"""Passes without gradients that make the data of the updates that follow them, seen by the loops.

A training that makes its own data has a loop around the step loop: each of its turns begins with
passes (a rollout, a game against itself, new pseudo-labels), and goes on with steps. A training
that is validated has one whose turns end with passes.

1. Only passes between two runs of the step loop count: from its end to its next beginning.
2. If a loop around it turns there, the passes after that moment make data.
3. If no such loop is known, the ends of the training decide: data is made before the first update
   and not after the last one.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from stepscope.analyze.phases.span_table import Mask, Spans
from stepscope.analyze.steps.find_steps import FoundSteps
from stepscope.analyze.steps.loops import Loop
from stepscope.clock import Ints

_MOST: Final = 0.8  # of the gaps: the last one of a run that was cut off may look different
_HALF: Final = 0.5  # of the usual number of passes: fewer are a try, or an epoch cut short
_NEVER: Final = np.iinfo(np.int64).max


def makes_data(spans: Spans, steps: FoundSteps, passes: Mask, trains: Mask) -> Mask:
    """Which of the passes, of one model, are made for the updates after them."""
    at = np.flatnonzero(trains)
    none = np.zeros(len(spans), np.bool_)
    if not len(at):
        return none
    gap = np.searchsorted(at, np.arange(len(spans)))  # how much training lies before
    between = passes & _is_before_a_run(spans, steps, np.append(spans.start_ns[at], _NEVER)[gap])
    middle = between & (gap > 0)
    if not middle.any():
        return none
    gaps = np.unique(gap[middle])
    turned_ns = _turns(steps, spans.end_ns[at[gaps - 1]], spans.start_ns[at[gaps]])
    if turned_ns is None:
        is_made = np.full(len(spans), _starts_with(gap[passes], gaps, len(at)))
    else:
        index = np.minimum(np.searchsorted(gaps, gap), len(gaps) - 1)
        is_made = spans.start_ns > turned_ns[index]
    is_usual = 2 * (middle & is_made).sum() > middle.sum()
    found: Mask = between & np.where(gap == 0, is_usual, is_made)
    return found


def _is_before_a_run(spans: Spans, steps: FoundSteps, following_ns: Ints) -> Mask:
    """Whether the step loop is entered between each span and the training that follows it."""
    entered = [loop.at_ns[loop.entry_starts] for loop in step_loops(steps)]
    entries = np.sort(np.concatenate([*entered, np.array([_NEVER])]))
    next_entry = entries[np.searchsorted(entries[:-1], spans.end_ns)]
    mask: Mask = (next_entry < _NEVER) & (next_entry <= following_ns)
    return mask


def step_loops(steps: FoundSteps) -> list[Loop]:
    """The loops that the steps happen in."""
    there = [loop for loop in steps.loops if loop.thread == steps.thread]
    return [loop for loop in there if np.isin(loop.at_ns[:1], steps.header_ns).all()]


def _turns(steps: FoundSteps, start_ns: Ints, end_ns: Ints) -> Ints | None:
    """When the loop around the step loop turned in each of these gaps; _NEVER where it did not.
    It turns once in most gaps, and is entered in none."""
    best, most = None, _MOST * len(start_ns)
    for loop in steps.loops:
        if loop.thread != steps.thread or loop in step_loops(steps):
            continue
        starts = loop.turn_starts[~loop.begins_entry[loop.turn_starts]]
        turns, entries = np.sort(loop.at_ns[starts]), np.sort(loop.at_ns[loop.entry_starts])
        once = (_within(turns, start_ns, end_ns) == 1) & (_within(entries, start_ns, end_ns) == 0)
        if once.sum() >= most:
            first = turns[np.minimum(np.searchsorted(turns, start_ns), len(turns) - 1)]
            best, most = np.where(once, first, _NEVER), once.sum() + 1
    return best


def _within(at_ns: Ints, start_ns: Ints, end_ns: Ints) -> npt.NDArray[np.intp]:
    return np.searchsorted(at_ns, end_ns) - np.searchsorted(at_ns, start_ns)


def _starts_with(
    gap_of_passes: npt.NDArray[np.intp], gaps: npt.NDArray[np.intp], last: int
) -> bool:
    """Whether there are as many passes before the first update as usual, and hardly any after the
    last one."""
    usual = float(np.median([(gap_of_passes == gap).sum() for gap in gaps]))
    before, after = (gap_of_passes == 0).sum(), (gap_of_passes == last).sum()
    return bool(before >= _HALF * usual > after)
