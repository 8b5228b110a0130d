"""Where an optimizer's step or a loader's wait really begins and ends.

Torch opens a range of its own around both, which takes its time: some 0.1 ms after an operator that
has swept the caches. Hooks inside would miss it, so the range's own beginning and end count.
"""

import threading
from typing import Final

from stepscope.native import _core

# Clearing gradients is none, but told apart here it costs the least.
_OWN_RANGES: Final = ("Optimizer.step#", "Optimizer.zero_grad#", "enumerate(DataLoader)#")


class _Ranges(threading.local):
    """The ranges that are open on this thread, innermost last: [ticks, span inside of it]."""

    def __init__(self) -> None:
        self.open: list[list[int]] = []


_ranges = _Ranges()


def is_edge(name: str) -> bool:
    return str(name).startswith(_OWN_RANGES)


def opens() -> None:
    _ranges.open.append([_core.ticks(), 0])


def closes() -> None:
    if _ranges.open:
        span = _ranges.open.pop()[1]
        if span:
            _core.span_end(span)


def start_ticks() -> int:
    """When the range around us was opened, for the first span inside; 0: now."""
    return _ranges.open[-1][0] if _ranges.open and not _ranges.open[-1][1] else 0


def fills(span: int) -> None:
    """This span ends where the range around us does."""
    if _ranges.open and not _ranges.open[-1][1]:
        _ranges.open[-1][1] = span
