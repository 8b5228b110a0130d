"""What a loop takes when its turns are done in one call: counted from the lines that it ran.

1. A line that is run again and again pays for Python and for calls on single elements or small
   arrays: all of that goes away.
2. Instead, each of its operations goes once over an array with an element for every turn, or more
   where each turn had an array of its own.
3. What a line takes beyond that is work in longer calls. One call for all turns may save it or not:
   half of it is expected to stay.
"""

import dataclasses
import math
from collections.abc import Iterable
from typing import Final

from stepscope.advise.gain.saving import HALF, Saving

# NumPy on a small array: 0.6 µs for an addition, 2.4 for a sum, 7 for a mean (`python -m
# benchmarks.gain_constants` prints them, and what an element of a large array takes).
BY_CALL_NS: Final = 5_000.0
# From an addition to a look-up in cold memory. Which of them it will be is not known: the middle of
# the exponents is expected, and the range has both ends.
LEAST_BY_ELEMENT_NS: Final = 0.3
MOST_BY_ELEMENT_NS: Final = 20.0
BY_ELEMENT_NS: Final = math.sqrt(LEAST_BY_ELEMENT_NS * MOST_BY_ELEMENT_NS)
# Of what goes away, computed by element in the calls that it made: a mean of 64 elements is 1 %, an
# addition of them 10 (the same command). How many elements a call had is not recorded.
LEAST_IN_CALLS, MOST_IN_CALLS = 0.01, 0.1
_IN_CALLS: Final = math.sqrt(LEAST_IN_CALLS * MOST_IN_CALLS)


@dataclasses.dataclass(frozen=True)
class Line:
    """By step; `ns` as on a machine of its own."""

    ns: float
    hits: float
    operations: int  # in its text


def vectorised(cost_ns: float, lines: Iterable[Line]) -> Saving:
    """For the loop as a whole; the lines share its cost."""
    lines = list(lines)
    whole = max(1.0, sum(line.ns for line in lines))
    goes = sum(min(line.ns, line.hits * line.operations * BY_CALL_NS) for line in lines)
    elements = sum(line.hits * line.operations for line in lines)
    part = goes / whole
    instead, most_instead = (
        min(max(elements * ns / whole, in_calls * part), HALF * part)
        for ns, in_calls in ((BY_ELEMENT_NS, _IN_CALLS), (MOST_BY_ELEMENT_NS, MOST_IN_CALLS))
    )
    return Saving(
        expected=cost_ns * (part + HALF * (1 - part) - instead),
        least=cost_ns * (part - most_instead),
        most=cost_ns,
    )


def on_tensors(
    cost_ns: float,
    *,
    stays_ns: float,
    most_stays_ns: float,
    least_stays_ns: float,
    operators: float,
    turns: float,
) -> Saving:
    """For a loop that calls operators on tensors, so many in all: what they compute stays. Those of
    one turn are called for all turns instead, which takes as long as a turn does now, and each of
    them goes over an element of every turn."""
    instead, most_instead = (
        min(cost_ns / turns + operators * each, HALF * cost_ns)
        for each in (BY_ELEMENT_NS, MOST_BY_ELEMENT_NS)
    )
    return Saving(
        expected=max(0.0, cost_ns - stays_ns - instead),
        least=max(0.0, cost_ns - most_stays_ns - most_instead),
        most=cost_ns - least_stays_ns,
    )
