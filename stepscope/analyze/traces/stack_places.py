"""Which function called each operator, from the stacks of a trace without a recording around it.

The trace has when each function began and ended. An operator belongs to the innermost one of the
user's functions around it; where none looks like the user's, to the innermost of all.
"""

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.analyze.traces.nesting import Indices, parents
from stepscope.clock import Ints
from stepscope.importers.frame_names import BUILT_IN, frame_of, is_users
from stepscope.importers.trace import Category, Source, Trace


@dataclasses.dataclass(frozen=True, eq=False)
class StackPlaces:
    """For each operator the index in the trace's `sources`, -1: none; and the line."""

    source: Indices
    line: Indices


def stack_places(trace: Trace, operators: npt.NDArray[Any]) -> StackPlaces | None:
    """None: the trace has no stacks."""
    calls = trace.of(Category.PYTHON)
    if not len(calls):
        return None
    frames = [frame_of(name) for name in trace.names]
    has_place = np.array([frame.file != BUILT_IN for frame in frames])
    users = np.array([is_users(frame) for frame in frames])
    around = _innermost(calls[users[calls["name"]]], operators)
    further = _innermost(calls[has_place[calls["name"]]], operators)
    name = np.where(around >= 0, around, further)
    return _numbered(trace, name, [Source(frame.file, frame.line) for frame in frames])


def _numbered(trace: Trace, name: Indices, places: list[Source]) -> StackPlaces:
    """Each function becomes one of the trace's own sources."""
    source = np.full(len(name), -1, np.int64)
    line = np.zeros(len(name), np.int64)
    for each in np.unique(name[name >= 0]).tolist():
        source[name == each], line[name == each] = len(trace.sources), places[each].line
        trace.sources.append((places[each],))
    return StackPlaces(source, line)


def _innermost(calls: npt.NDArray[Any], operators: npt.NDArray[Any]) -> Indices:
    """The name of the innermost call around each operator, -1: none."""
    found = np.full(len(operators), -1, np.int64)
    threads = np.unique(calls["thread"])
    for thread in threads.tolist():
        mine = calls[calls["thread"] == thread]
        # Some versions number the threads of stacks on their own: if there is one, it is that.
        here = np.flatnonzero((operators["thread"] == thread) | (len(threads) == 1))
        ordered = _ordered(mine)
        starts, until = operators["start_ns"][here], operators["duration_ns"][here]
        at = around(ordered["start_ns"], ordered["start_ns"] + ordered["duration_ns"], starts,
                    starts + until)  # fmt: skip
        found[here] = np.where(at >= 0, ordered["name"][np.maximum(at, 0)], -1)
    return found


def _ordered(calls: npt.NDArray[Any]) -> npt.NDArray[Any]:
    end_ns = calls["start_ns"] + calls["duration_ns"]
    ordered: npt.NDArray[Any] = calls[np.lexsort((-end_ns, calls["start_ns"]))]
    return ordered


def around(start_ns: Ints, end_ns: Ints, from_ns: Ints, until_ns: Ints) -> Indices:
    """The innermost call around each stretch, -1: none. Calls by start, the longer first."""
    parent = parents(np.zeros(len(start_ns), np.int64), start_ns, end_ns)
    found = np.searchsorted(start_ns, from_ns, side="right") - 1
    over = np.flatnonzero((found >= 0) & (end_ns[np.maximum(found, 0)] < until_ns))
    while len(over):
        found[over] = parent[found[over]]
        over = over[(found[over] >= 0) & (end_ns[np.maximum(found[over], 0)] < until_ns[over])]
    return found
