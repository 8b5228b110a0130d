"""How wrong predicted gains were, which says how wide the ranges of others must be.

1. What is wrong of a gain is a part of its logarithm: a large gain is less known than a small one.
2. Two kinds: the fix leaves work out, or other code does the work, which is not in the run.
3. Of n known scripts of a kind, the error that nine of ten new ones stay under is the one at place
   0.9 (n + 1): as likely as not, if they are like the known ones.
4. They may not be: how often does that hold for a fault of which no script was counted?
"""

import collections
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

ByFault = Mapping[str, Sequence[float]]
# `Saving.is_replaced` is false in the findings of these.
LEFT_OUT = (
    "checkpoint-stall", "evaluation-stall", "gc-pressure", "logging-stall", "recompilation",
    "repeated-load", "slow-outlier-steps",
)  # fmt: skip


def by_fault(off_by: Iterable[tuple[str, float]]) -> tuple[ByFault, ByFault]:
    """Where work is left out, and where other code does it, each by the kind of fault."""
    left_out, replaced = (collections.defaultdict[str, list[float]](list) for _ in range(2))
    for fault, error in off_by:
        (left_out if fault in LEFT_OUT else replaced)[fault].append(error)
    return left_out, replaced


def nine_in_ten(off_by: ByFault) -> str:
    """The least that nine of ten are under."""
    found = _bound([each for errors in off_by.values() for each in errors])
    return "–" if found is None else f"{found:.2f}"


def within_others(off_by: ByFault) -> Iterator[bool]:
    """Whether each is under what nine of ten others are, with all of its own fault left out."""
    for fault, errors in off_by.items():
        others = [each for other, theirs in off_by.items() if other != fault for each in theirs]
        bound = _bound(others)
        if bound is not None:
            yield from (each <= bound for each in errors)


def _bound(errors: Sequence[float]) -> float | None:
    """None: of so few, even the greatest may be too little."""
    at = math.ceil(0.9 * (len(errors) + 1)) - 1
    return sorted(errors)[at] if at < len(errors) else None
